import { createClient, isAnswer } from './client.ts'

/** What the server does for one of our connections. */
export interface Backend {
  /** How long it has been waiting for a statement of ours; null while it works on one, or where it is not shown. */
  readonly waitsMs: number | null
}

/** Those of the asked that the server knows; undefined where it answered, but with a refusal. */
export type Backends = ReadonlyMap<number, Backend> | undefined

/** Sends statements without parameters, and gives the rows of the last one. */
export type AskText = (text: string) => Promise<readonly object[]>

/**
 * Asks over a connection of its own, so that what has become of the others has no part in it. Rejects when it is refused, or
 * when the signal ends it.
 */
export type BackendProbe = (pids: readonly number[], signal: AbortSignal) => Promise<Backends>

/** The driver's own limit; the caller has less patience. */
const CONNECT_SECONDS = 60

/** `url` is the login's, which sees the sessions that it opened. */
export function backendProbe(url: string): BackendProbe {
  return async (pids, signal) => {
    signal.throwIfAborted()
    const client = createClient({ url, max: 1, connectTimeoutSeconds: CONNECT_SECONDS })
    const stopped = Promise.withResolvers<never>()
    const stop = (): void => stopped.reject(signal.reason)
    signal.addEventListener('abort', stop)
    try {
      const ask: AskText = async (text) => (await client.unsafe<object[][]>(text)).at(-1) ?? []
      return await Promise.race([selectBackends(ask, pids), stopped.promise])
    } catch (error) {
      // The server speaks, if only to say that it starts, stops or has no connection left.
      if (isAnswer(error)) return undefined
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      // What it says goodbye to may not answer either.
      client.end({ timeout: 1 }).catch(() => {})
    }
  }
}

/** As the login for the length of one message, in one round trip: the app role does not see what a session does. */
export async function selectBackends(ask: AskText, pids: readonly number[]): Promise<Backends> {
  const rows = await ask(`set local role none;
    select pid, case when state in ('active', 'fastpath function call') then null
      else (extract(epoch from clock_timestamp() - state_change) * 1000)::float8 end as waits_ms
    from pg_stat_activity where pid = any('{${pids.join(',')}}'::int4[])`)
  return new Map((rows as BackendRow[]).map(({ pid, waits_ms: waitsMs }) => [pid, { waitsMs }]))
}

interface BackendRow {
  readonly pid: number
  readonly waits_ms: number | null
}
