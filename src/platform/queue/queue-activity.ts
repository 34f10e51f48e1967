import { Tally } from '#base/tally.ts'

import type { QueueName } from './queue.ts'

/** How jobs ended in this process since the start: every attempt counts. */
export class QueueActivity {
  readonly #ends = new Map<QueueName, Tally<'done' | 'failed' | 'handed_back'>>()

  get ends(): Iterable<readonly [QueueName, Tally<'done' | 'failed' | 'handed_back'>]> {
    return this.#ends
  }

  open(queue: QueueName): void {
    this.#ends.set(queue, new Tally(['done', 'failed', 'handed_back']))
  }

  ended(queue: QueueName, end: 'done' | 'failed' | 'handed_back'): void {
    this.#ends.get(queue)?.add(end)
  }
}

/** What a queue holds, by the count that is taken every few seconds. */
export interface QueueDepth {
  readonly queue: string
  /** Jobs that could begin. */
  readonly ready: number
  /** Those that wait for their time: a retry, mostly. */
  readonly deferred: number
  readonly active: number
}
