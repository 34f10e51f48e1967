import type { TrustedToken } from './verified-token-cache.ts'

/** How long at most the generation before the last stays unread. */
const GENERATION_MS = 60_000
/** Limits the headers of one generation together, in UTF-16 units. */
const MAX_CHARACTERS = 8 * 1024 * 1024
/** What an entry takes beside its header, in the same units. */
const ENTRY_CHARACTERS = 128

type Generation = Map<string, TrustedToken>

/**
 * Whole `Authorization` headers whose token verified a moment ago: to find one takes a tenth of what its parts and its digest
 * take. Two generations, the younger of which takes the other's place: a header stays no longer than its token may be trusted,
 * and one minute.
 */
export class RecognizedHeaders {
  #young: Generation = new Map()
  #old: Generation = new Map()
  #characters = 0
  #turnMs = 0

  /** What was known of the header; the caller checks whether it is still valid. */
  get(header: string, nowMs: number): TrustedToken | undefined {
    if (nowMs >= this.#turnMs) this.#turn(nowMs)
    return this.#young.get(header) ?? this.#old.get(header)
  }

  set(header: string, token: TrustedToken, nowMs: number): void {
    if (this.#young.get(header) === token) return
    const characters = header.length + ENTRY_CHARACTERS
    if (nowMs >= this.#turnMs || this.#characters + characters > MAX_CHARACTERS) this.#turn(nowMs)
    this.#characters += characters
    this.#young.set(header, token)
  }

  #turn(nowMs: number): void {
    // After two turns' time without a call the younger ones are too old as well.
    this.#old = nowMs < this.#turnMs + GENERATION_MS ? this.#young : new Map()
    this.#young = new Map()
    this.#characters = 0
    this.#turnMs = nowMs + GENERATION_MS
  }
}
