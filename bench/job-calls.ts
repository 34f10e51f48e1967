import { readFile } from 'node:fs/promises'

import type { Tenant } from './load/load-plan.ts'

/** Sent in turn. */
const BODIES = ['Ada', 'Bob', 'Cleo', 'Dan'].map((name, at) =>
  JSON.stringify({ payload: { name, n: 38 + at } }),
)

/** Calls of the job on one host, with what is expected of the answers. */
export const jobTenant = (target: { host: string; path: string; token?: string }): Tenant => ({
  ...target,
  bodies: BODIES,
  expect: { status: 200, includes: '"greeting":"Hello, ' },
})

/** TypeScript that exports `answer`. */
export const readJobSource = (): Promise<string> =>
  readFile(new URL('json-job.ts', import.meta.url), 'utf8')
