import { AppError } from '#base/app-error.ts'

import { type SqlClient, createClient } from './client.ts'

/** How long a new connection and its one statement may take. */
export const PROBE_MS = 2000

/** What the server does for one of our connections. */
interface Backend {
  readonly pid: number
  /** How long it has been waiting for a statement of ours; null while it works on one, or where it is not shown. */
  readonly waitsMs: number | null
}

/** Those of the asked that the server knows; undefined where it answered, but with a refusal. */
export type Backends = ReadonlyMap<number, Backend> | undefined

/** Asks over a connection of its own, so that what has become of the others has no part in it. Rejects where nobody answers. */
export type BackendProbe = (pids: readonly number[]) => Promise<Backends>

/** `url` is the login's, which sees the sessions that it opened. */
export function backendProbe(url: string): BackendProbe {
  return async (pids) => {
    const client = createClient({ url, max: 1, connectTimeoutSeconds: PROBE_MS / 1000 })
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(noAnswer()), PROBE_MS)
    try {
      return await Promise.race([selectBackends(client, pids), late.promise])
    } catch (error) {
      if (isRefusal(error)) return undefined
      throw error
    } finally {
      clearTimeout(timer)
      // What it says goodbye to may not answer either.
      client.end({ timeout: 1 }).catch(() => {})
    }
  }
}

async function selectBackends(client: SqlClient, pids: readonly number[]): Promise<Backends> {
  const rows = await client<{ pid: number; waits_ms: number | null }[]>`
    select pid, case when state in ('active', 'fastpath function call') then null
      else (extract(epoch from clock_timestamp() - state_change) * 1000)::float8 end as waits_ms
    from pg_stat_activity where pid = any(${[...pids]}::int4[])`
  return new Map(rows.map(({ pid, waits_ms: waitsMs }) => [pid, { pid, waitsMs }]))
}

/** The server speaks, if only to say that it starts, stops or has no connection left. */
const isRefusal = (error: unknown): boolean => error instanceof Error && 'severity' in error

const noAnswer = (): AppError =>
  new AppError('ServiceUnavailable', `The database did not answer within ${PROBE_MS} ms`)
