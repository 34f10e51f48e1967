import { AppError } from './app-error.ts'
import { codeOf } from './error-code.ts'

/** SQLSTATE classes 53, 55 and 57: no room or memory, a lock of another session, a statement that was ended. */
const BUSY = /^(?:53|55|57)...$/

/** Whether a database that is away or busy is at fault: no entry of the statement is, and all of them alone would only add to it. */
const isAboutAll = (error: unknown): boolean =>
  error instanceof AppError || BUSY.test(codeOf(error) ?? '')

interface Waiting<Entry, Answer> {
  readonly entry: Entry
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

interface Lane<Entry, Answer> {
  readonly waiting: Waiting<Entry, Answer>[]
  underWay: number
  /** Whether a turn of the event loop is awaited in which the next group is sent. */
  isDue: boolean
}

/** Sends entries of one lane together. Gives their answers in the same order. */
type Send<Entry, Answer> = (
  lane: string,
  entries: readonly [Entry, ...Entry[]],
) => Promise<readonly Answer[]>

interface StatementBatcherOptions<Entry, Answer> {
  readonly send: Send<Entry, Answer>
  /** Entries of one statement. */
  readonly most: number
  /**
   * Statements of one lane that are in flight at a time; 2 when left out. Those that wait for each other's locks gain nothing by
   * it.
   */
  readonly underWay?: number
}

/**
 * Lets one statement serve many calls. A call that finds its lane free is sent in the same turn of the event loop, with what else
 * came in it; the others wait until one of the statements in flight is answered, and go together. No statement waits for more
 * calls.
 */
export class StatementBatcher<Entry, Answer> {
  readonly #send: Send<Entry, Answer>
  readonly #most: number
  readonly #underWay: number
  /** Lanes with work; the others are forgotten. */
  readonly #lanes = new Map<string, Lane<Entry, Answer>>()

  constructor({ send, most, underWay = 2 }: StatementBatcherOptions<Entry, Answer>) {
    this.#send = send
    this.#most = most
    this.#underWay = underWay
  }

  add(name: string, entry: Entry): Promise<Answer> {
    let lane = this.#lanes.get(name)
    if (lane === undefined)
      this.#lanes.set(name, (lane = { waiting: [], underWay: 0, isDue: false }))
    return new Promise((resolve, reject) => {
      lane.waiting.push({ entry, resolve, reject })
      if (lane.isDue || lane.underWay >= this.#underWay) return
      lane.isDue = true
      queueMicrotask(() => this.#start(name, lane))
    })
  }

  #start(name: string, lane: Lane<Entry, Answer>): void {
    lane.isDue = false
    while (lane.waiting.length > 0 && lane.underWay < this.#underWay) {
      void this.#serve(name, lane, lane.waiting.splice(0, this.#most))
    }
  }

  async #serve(
    name: string,
    lane: Lane<Entry, Answer>,
    group: readonly Waiting<Entry, Answer>[],
  ): Promise<void> {
    lane.underWay += 1
    try {
      await this.#answer(name, group)
    } finally {
      lane.underWay -= 1
      this.#next(name, lane)
    }
  }

  /** After a turn, in which those that were just answered may call again. */
  #next(name: string, lane: Lane<Entry, Answer>): void {
    if (lane.isDue) return
    if (lane.waiting.length > 0) {
      lane.isDue = true
      setImmediate(() => this.#start(name, lane))
    } else if (lane.underWay === 0) {
      this.#lanes.delete(name)
    }
  }

  async #answer(name: string, group: readonly Waiting<Entry, Answer>[]): Promise<void> {
    const [first, ...others] = group
    if (first === undefined) return
    try {
      const answers = await this.#send(name, [first.entry, ...others.map(({ entry }) => entry)])
      for (const [at, each] of group.entries()) each.resolve(answers[at] as Answer)
    } catch (error) {
      // What the statement failed of may be of one entry: each is asked for alone.
      if (others.length > 0 && !isAboutAll(error)) {
        await Promise.all(group.map((each) => this.#answer(name, [each])))
      } else for (const each of group) each.reject(error)
    }
  }
}
