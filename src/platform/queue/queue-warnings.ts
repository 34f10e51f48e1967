import { LRUCache } from 'lru-cache'

import type { Logger } from '#platform/log/logger.ts'

/** pg-boss looks every few seconds, and repeats what it sees each time. */
const REPEATED_AFTER_MS = 10 * 60_000
const MOST_KINDS = 100

/** Logs what pg-boss warns of, each kind once in ten minutes: a long queue lasts, and says so again with other numbers. */
export class QueueWarnings {
  readonly #log: Pick<Logger, 'warn'>
  readonly #logged = new LRUCache<string, true>({
    max: MOST_KINDS,
    ttl: REPEATED_AFTER_MS,
    perf: performance,
  })

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  warn({ message }: { readonly message: string }): void {
    const kind = message.replaceAll(/\d+(?:\.\d+)?/g, 'N')
    if (this.#logged.has(kind)) return
    this.#logged.set(kind, true)
    this.#log.warn({ warning: message }, 'queue')
  }
}
