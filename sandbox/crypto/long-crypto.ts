import { Piscina } from 'piscina'

import { CryptoFailure } from './crypto-failure.ts'
import type { LongResult } from './crypto-thread.ts'
import { MAX_RUNNING, MAX_WAITING_OF_SITE } from './limits.ts'

const IDLE_MS = 10_000

export interface LongQuestion {
  readonly hostCall: number
  readonly siteId: string
  /** JSON. */
  readonly request: string
}

/**
 * Cryptography that an isolate cannot wait for, in threads of its own. One question of a site runs at a time, and sites
 * take turns. What ran for a call that did not wait for it is charged to the next question of its site.
 */
export class LongCrypto {
  readonly #deps
  readonly #waiting = new Map<string, LongQuestion[]>()
  readonly #running = new Map<string, { hostCall: number | undefined }>()
  readonly #owedMs = new Map<string, number>()
  #pool: Piscina<string, LongResult> | undefined

  constructor(deps: {
    /** `owedMs` is what the site's earlier operations took for calls that did not wait for them. */
    answered(hostCall: number, result: LongResult, owedMs: number): void
    /** Runs one question to its end; for tests. */
    readonly run?: (request: string) => Promise<LongResult>
  }) {
    this.#deps = deps
  }

  ask(question: LongQuestion): void {
    const waiting = this.#waiting.get(question.siteId) ?? []
    if (waiting.length >= MAX_WAITING_OF_SITE) {
      setImmediate(() => this.#deps.answered(question.hostCall, { text: TOO_MANY, cpuMs: 0 }, 0))
      return
    }
    this.#waiting.set(question.siteId, [...waiting, question])
    this.#startNext()
  }

  /** Takes a question back; what runs already runs to its end, in the place of its site. */
  cancel(hostCall: number): void {
    for (const [siteId, questions] of this.#waiting) {
      const left = questions.filter((question) => question.hostCall !== hostCall)
      if (left.length === questions.length) continue
      if (left.length === 0) this.#waiting.delete(siteId)
      else this.#waiting.set(siteId, left)
    }
    for (const running of this.#running.values())
      if (running.hostCall === hostCall) running.hostCall = undefined
  }

  close(): void {
    this.#waiting.clear()
    for (const running of this.#running.values()) running.hostCall = undefined
    void this.#pool?.destroy().catch(() => {})
  }

  #startNext(): void {
    for (const [siteId, [next, ...rest]] of this.#waiting) {
      if (this.#running.size >= MAX_RUNNING) return
      if (this.#running.has(siteId)) continue
      if (rest.length > 0) this.#waiting.set(siteId, rest)
      else this.#waiting.delete(siteId)
      if (next) void this.#run(next)
    }
  }

  async #run({ siteId, hostCall, request }: LongQuestion): Promise<void> {
    const running: { hostCall: number | undefined } = { hostCall }
    this.#running.set(siteId, running)
    const { text, cpuMs } = await this.#result(request)
    this.#running.delete(siteId)
    this.#putLast(siteId)
    const owedMs = this.#owedMs.get(siteId) ?? 0
    if (running.hostCall === undefined) this.#owedMs.set(siteId, owedMs + cpuMs)
    else {
      this.#owedMs.delete(siteId)
      this.#deps.answered(running.hostCall, { text, cpuMs }, owedMs)
    }
    this.#startNext()
  }

  /** The questions of others go before the next one of a site that has just had its turn. */
  #putLast(siteId: string): void {
    const questions = this.#waiting.get(siteId)
    if (!questions || !this.#waiting.delete(siteId)) return
    this.#waiting.set(siteId, questions)
  }

  async #result(request: string): Promise<LongResult> {
    try {
      return await (this.#deps.run ?? this.#runInThread)(request)
    } catch {
      return { text: FAILED, cpuMs: 0 }
    }
  }

  readonly #runInThread = (request: string): Promise<LongResult> => {
    this.#pool ??= this.#openPool()
    return this.#pool.run(request, { name: 'runLongCrypto' })
  }

  #openPool(): Piscina<string, LongResult> {
    const pool = new Piscina<string, LongResult>({
      filename: new URL(import.meta.resolve('./crypto-thread.ts')).href,
      minThreads: 0,
      maxThreads: MAX_RUNNING,
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      recordTiming: false,
    })
    // A thread that does not start fails what it was given, and must not end the process with it.
    pool.on('error', () => {})
    return pool
  }
}

const TOO_MANY = new CryptoFailure(
  'OperationError',
  `More than ${MAX_WAITING_OF_SITE} long operations of crypto.subtle are waiting: await some of them first`,
).text
const FAILED = new CryptoFailure('OperationError', 'The operation could not be carried out').text
