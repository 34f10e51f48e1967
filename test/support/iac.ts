import { vi } from 'vitest'

import type { Answer } from './http-client.ts'
import type { RuntimeSite } from './runtime-site.ts'

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
