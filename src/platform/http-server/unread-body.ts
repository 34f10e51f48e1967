import { clearTimeout, setTimeout } from 'node:timers'

const MIB = 1024 * 1024

/** How much of a body is read and thrown away after an answer that came before its end, and for how long. */
export interface DiscardLimits {
  readonly maxBytes: number
  readonly maxMs: number
  /** Who sends nothing for this long has seen the answer, or never will. */
  readonly silenceMs: number
}

export const DISCARD_LIMITS: DiscardLimits = {
  maxBytes: 256 * MIB,
  maxMs: 30_000,
  silenceMs: 2000,
}

/** A body this short has most likely arrived: the runtime skips it, and the connection serves on. */
const MAX_SKIPPED_BYTES = 64 * 1024

/** What is left of a body, a chunk at a time. */
export interface BodyRest {
  /** The length of the next chunk; undefined at the end. Rejects when the connection is gone. */
  next(): Promise<number | undefined>
  /** Ends what waits in `next`. */
  release(): void
}

/**
 * Reads what a client goes on sending after it was answered, and throws it away: a connection that is closed with unread bytes in it
 * is reset, and the answer is lost with it (RFC 9112, section 9.6). Resolves at the end of the body, at a limit, or when
 * the signal is aborted; the caller closes the connection.
 */
export async function discardRest(
  rest: BodyRest,
  signal: AbortSignal,
  { maxBytes, maxMs, silenceMs }: DiscardLimits = DISCARD_LIMITS,
): Promise<void> {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>()
  const stop = () => resolve(undefined)
  const end = setTimeout(stop, maxMs)
  const silence = setTimeout(stop, silenceMs)
  signal.addEventListener('abort', stop)
  let seen = 0
  try {
    while (seen <= maxBytes && !signal.aborted) {
      const next = rest.next()
      next.catch(() => {})
      const length = await Promise.race([next, stopped])
      if (length === undefined) return
      seen += length
      silence.refresh()
    }
  } catch {
    // The client is gone, which is as good an end.
  } finally {
    signal.removeEventListener('abort', stop)
    clearTimeout(end)
    clearTimeout(silence)
    rest.release()
  }
}

/** Whether the runtime skips the body that a header announces. */
export const isSkipped = (contentLength: string | null | undefined): boolean =>
  typeof contentLength === 'string' &&
  /^\d{1,5}$/.test(contentLength) &&
  Number(contentLength) <= MAX_SKIPPED_BYTES
