import { type Cluster, Redis } from 'ioredis'

import { backoffMs } from '#base/backoff.ts'
import type { Logger } from '#platform/log/logger.ts'

import { CircuitBreaker } from './circuit-breaker.ts'
import { RedisActivity } from './redis-activity.ts'

const COMMAND_TIMEOUT_MS = 200
const OPEN_MS = 1000

export interface RedisTimeouts {
  /** How long a command may take; 200 ms when left out. */
  readonly commandTimeoutMs?: number
}

/** A connection to Redis that never makes anyone wait for a Redis that is slow or gone. */
export class RedisConnection {
  readonly activity = new RedisActivity()
  readonly #client: Redis | Cluster
  readonly #logger: Logger
  readonly #silence: string
  readonly #circuit: CircuitBreaker
  #answeredMs = -Infinity

  /** `redis://` or `rediss://`; `?cluster=true` for Redis Cluster. `silence` is what is logged when an outage begins. */
  constructor(
    redisUrl: string,
    deps: { readonly logger: Logger; readonly silence: string },
    { commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisTimeouts = {},
  ) {
    this.#client = connect(redisUrl, commandTimeoutMs)
    this.#logger = deps.logger
    this.#silence = deps.silence
    this.#circuit = new CircuitBreaker(OPEN_MS)
    // Without a listener ioredis prints; commands report the same fault through the circuit.
    this.#client.on('error', (error: Error) => this.#failed(error))
  }

  /** Undefined for every kind of failure: the caller goes on without Redis. */
  async attempt<T>(command: (client: Redis | Cluster) => Promise<T>): Promise<T | undefined> {
    const { commands, durations } = this.activity
    if (!this.#circuit.allows()) {
      commands.add('skipped')
      return undefined
    }
    const startedAt = performance.now()
    try {
      const answer = await command(this.#client)
      commands.add('answered')
      this.#answeredMs = performance.now()
      if (this.#circuit.succeeded()) this.#logger.info('redis answers again')
      return answer
    } catch (error) {
      commands.add('failed')
      // One that answers others lives, and only this command took too long.
      if (this.#answeredMs < startedAt) this.#failed(error)
      return undefined
    } finally {
      durations.observe(performance.now() - startedAt)
    }
  }

  ping(): Promise<'ok' | 'down'> {
    return this.#client.ping().then(
      () => 'ok' as const,
      () => 'down' as const,
    )
  }

  close(): void {
    this.#client.disconnect()
  }

  #failed(error: unknown): void {
    if (this.#circuit.failed()) this.#logger.warn({ err: error }, this.#silence)
  }
}

function connect(redisUrl: string, commandTimeout: number): Redis | Cluster {
  const url = new URL(redisUrl)
  const cluster = url.searchParams.get('cluster') === 'true'
  url.searchParams.delete('cluster')
  const options = {
    enableAutoPipelining: true,
    commandTimeout,
    connectTimeout: 2000,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt: number) => 50 + backoffMs(attempt, { maxMs: 5000 }),
  }
  if (!cluster) return new Redis(url.href, options)
  const { retryStrategy, enableOfflineQueue, ...redisOptions } = options
  const { password, username } = url
  return new Redis.Cluster([{ host: url.hostname, port: Number(url.port || 6379) }], {
    enableAutoPipelining: true,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    redisOptions: {
      ...redisOptions,
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
    },
  })
}
