import { HeadBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'

import { backoffMs } from '#base/backoff.ts'
import { retry } from '#base/retry.ts'
import type { Logger } from '#platform/log/logger.ts'

import { isUnavailable, orUnavailable, s3StatusOf } from './s3-responses.ts'
import { type Patience, StoreWatch } from './store-watch.ts'

/** How long an answer may take, while the store answers others. */
const ANSWER_MS = 5000
/** How long a body may stall, while the store answers others. */
const IDLE_MS = 10_000
const ATTEMPTS = 3
/** How long after the first attempt another one may begin: one answer that did not come is worth a second, two are not worth a third. */
const REPEAT_MS = 8000
const BACKOFF = { baseMs: 100, maxMs: 1000 }
const CONNECTIONS = 256

export type S3Request<Answer> = (
  client: S3Client,
  options: { readonly abortSignal: AbortSignal },
) => Promise<Answer>

/** The client of one bucket, whose requests end: with an answer, or with 503 `ServiceUnavailable`. */
export class S3Requests implements Disposable {
  /** For what is signed and not sent. */
  readonly client: S3Client
  readonly #prober: S3Client
  readonly #watch: StoreWatch
  readonly #bucket: string

  constructor(bucket: string, config: S3ClientConfig, log: Logger) {
    this.#bucket = bucket
    this.client = clientOf(config, { keepAlive: true, maxSockets: CONNECTIONS })
    this.#prober = clientOf(config, { keepAlive: false })
    this.#watch = new StoreWatch({ probe: (signal) => this.#probe(signal), log })
  }

  /** Throws 503 `ServiceUnavailable` while the store is known to be away. */
  check(): void {
    this.#watch.check()
  }

  /** What the store answers. `request` runs again when that may help. */
  async send<Answer>(
    request: S3Request<Answer>,
    { attempts = ATTEMPTS, ...patience }: Partial<Patience> & { readonly attempts?: number } = {},
  ): Promise<Answer> {
    const attempt = async (): Promise<Answer> => {
      this.#watch.check()
      const send = (abortSignal: AbortSignal) => request(this.client, { abortSignal })
      try {
        return await this.#watch.during(send, { limitMs: ANSWER_MS, ...patience })
      } catch (error) {
        if (isUnavailable(error)) this.#watch.suspect()
        throw error
      }
    }
    const startedMs = performance.now()
    const isRetryable = (error: unknown) =>
      isUnavailable(error) && performance.now() - startedMs < REPEAT_MS
    const delayMs = (nth: number) => backoffMs(nth, BACKOFF)
    return orUnavailable(retry(attempt, { attempts, isRetryable, delayMs }))
  }

  /** The same bytes; they end with 503 `ServiceUnavailable` when the next of them does not come. Time that the reader takes counts for nothing. */
  body(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    const next = () => this.#watch.during(() => reader.read(), { limitMs: IDLE_MS })
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { done, value } = await orUnavailable(next())
            if (done) controller.close()
            else controller.enqueue(value)
          } catch (error) {
            // The stream may ignore the cancellation: no caller waits for it.
            reader.cancel(error).catch(() => {})
            throw error
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** Whether the bucket can be used at the moment. */
  async ping(): Promise<void> {
    this.#watch.check()
    await this.client.send(new HeadBucketCommand({ Bucket: this.#bucket }))
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
    this.client.destroy()
    this.#prober.destroy()
  }

  /** A refusal is an answer too. */
  async #probe(abortSignal: AbortSignal): Promise<void> {
    try {
      await this.#prober.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal })
    } catch (error) {
      const status = s3StatusOf(error)
      if (status === undefined || status >= 500) throw error
    }
  }
}

/** What repeats is decided here: the SDK would repeat a request without knowing that the store is away, and no body from a file. */
const clientOf = (
  config: S3ClientConfig,
  agent: { readonly keepAlive: boolean; readonly maxSockets?: number },
): S3Client =>
  new S3Client({
    ...config,
    maxAttempts: 1,
    requestHandler: { httpAgent: agent, httpsAgent: agent },
  })
