import type { Answer } from '#test/http-client.ts'

import type { AuthorizationServer } from './authorization-server.ts'

/** What is done at either server, as far as the answer that is compared. */
export type Case = readonly [name: string, ask: (server: AuthorizationServer) => Promise<Answer>]
