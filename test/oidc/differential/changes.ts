import type { AuthorizationServer } from './authorization-server.ts'
import type { Fields } from './message.ts'

/** What is wrong with a request; some of it depends on the server that is asked. */
export type Changes = Fields | ((server: AuthorizationServer) => Fields)

export const changesFor = (server: AuthorizationServer, changes: Changes): Fields =>
  typeof changes === 'function' ? changes(server) : changes
