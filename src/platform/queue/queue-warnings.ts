import { LRUCache } from 'lru-cache'

import type { Logger } from '#platform/log/logger.ts'

/** pg-boss looks every few seconds, and repeats what it sees each time. */
const REPEATED_AFTER_MS = 10 * 60_000
const MOST_KINDS = 100
/** As many as pg-boss warns of, which counts those that are due later, too. */
const LARGE_BACKLOG = 10_000

/** As pg-boss emits it: of a backlog with the name of the queue and its count. */
interface Warning {
  readonly message: string
  readonly data: object
}

/**
 * Logs what pg-boss warns of, each kind once in ten minutes: a long queue lasts, and says so again with other numbers. Jobs that
 * are due later are no backlog.
 */
export class QueueWarnings {
  readonly #deps
  readonly #logged = new LRUCache<string, true>({
    max: MOST_KINDS,
    ttl: REPEATED_AFTER_MS,
    perf: performance,
  })

  constructor(deps: {
    readonly log: Pick<Logger, 'warn'>
    /** The jobs of a queue that could begin. */
    readonly ready: (queue: string) => Promise<number>
  }) {
    this.#deps = deps
  }

  async warn({ message, data }: Warning): Promise<void> {
    const kind = message.replaceAll(/\d+(?:\.\d+)?/g, 'N')
    if (this.#logged.has(kind) || (await this.#isCalm(data))) return
    this.#logged.set(kind, true)
    this.#deps.log.warn({ warning: message }, 'queue')
  }

  async #isCalm(data: object): Promise<boolean> {
    if (!('queuedCount' in data && 'name' in data)) return false
    // A database that does not answer now makes a warning no less true.
    const ready = await this.#deps.ready(String(data.name)).catch(() => Infinity)
    return ready <= LARGE_BACKLOG
  }
}
