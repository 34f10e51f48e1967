import { vi } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { Answer } from './http-client.ts'
import type { RuntimeSite } from './runtime-site.ts'
import type { Stack } from './stack.ts'

export interface ChangeSeen {
  readonly section: string
  readonly name: string
  readonly action: string
  readonly status: string
  readonly fields?: readonly string[]
  readonly error?: string
}

/** Sends an infrastructure job and waits for its end. */
export async function carryOut(
  site: Pick<RuntimeSite, 'admin'>,
  mode: 'plan' | 'apply' | 'replace',
  definition: unknown,
  rest: object = {},
): Promise<Answer> {
  const sent = await site.admin('POST', '/iac/jobs', { mode, definition, ...rest })
  if (sent.status !== 200) return sent
  return ended(site, sent.json.jobId)
}

/** The job once it has ended. */
export async function ended(site: Pick<RuntimeSite, 'admin'>, jobId: string): Promise<Answer> {
  return vi.waitUntil(
    async () => {
      const answer = await site.admin('GET', `/iac/jobs/${jobId}`)
      return answer.json.finishedAt === null ? undefined : answer
    },
    { timeout: 60_000, interval: 20 },
  )
}

/** `create groups editors`, in the job's order. */
export const changesOf = (answer: Answer): string[] =>
  answer.json.summary.changes.map(
    ({ action, section, name }: ChangeSeen) => `${action} ${section} ${name}`,
  )

/** Work of a transaction of the site that is rolled back with `release`, and keeps others waiting until then. */
export async function heldBack(
  stack: Stack,
  host: string,
  work: (tx: SiteTx) => Promise<unknown>,
): Promise<AsyncDisposable & { release: () => Promise<void> }> {
  const { promise: free, resolve } = Promise.withResolvers<void>()
  const { promise: held, resolve: holding, reject } = Promise.withResolvers<void>()
  const takenBack = new Error('rolled back')
  const done = stack
    .inSite(host, async (tx) => {
      await work(tx)
      holding()
      await free
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) reject(error)
    })
  await held
  const release = async () => {
    resolve()
    await done
  }
  return { release, [Symbol.asyncDispose]: release }
}
