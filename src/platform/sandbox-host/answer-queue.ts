import type { PendingCall } from './pending-call.ts'

/** Limits the answers in one frame together, in UTF-16 units; a single longer one fits. */
const MAX_LENGTH = 4 * 1024 * 1024
/** The same, by what the calls that they resume will probably take. */
const MAX_MS = 4
/** What takes less counts as little: on a busy machine it is mostly waiting, and many small frames cost more than they save. */
const LONG_MS = 5
const SHORT_MS = MAX_MS / 16
/** A part of a stream that an answer brings about counts as more than it takes: all sites wait for the process that passes it on. */
const PART_WEIGHT = 4

/** What the service says to a host call. */
export interface HostCallAnswer {
  readonly hostCall: number
  readonly ok: boolean
  /** JSON. */
  readonly text: string
  /** The call that it resumes. */
  readonly asker: PendingCall
  /** It is on its way to the worker, or is not wanted any more. */
  readonly onSent: () => void
}

/** Answers that wait for a frame to a worker. The sites take turns: many answers of one do not keep back those of the others. */
export class AnswerQueue {
  /** The site whose turn it is first. */
  readonly #sites = new Map<string, HostCallAnswer[]>()

  get isEmpty(): boolean {
    return this.#sites.size === 0
  }

  push(answer: HostCallAnswer): void {
    const { queueKey } = answer.asker
    const answers = this.#sites.get(queueKey)
    if (answers) answers.push(answer)
    else this.#sites.set(queueKey, [answer])
  }

  /** Takes out those of the next frame. */
  takeFrame(): HostCallAnswer[] {
    const frame: HostCallAnswer[] = []
    let length = 0
    let costMs = 0
    // What is set again comes last: the loop goes round.
    for (const [key, answers] of this.#sites) {
      const [answer] = answers
      if (answer === undefined) continue
      length += answer.text.length
      costMs += costOf(answer.asker)
      if (frame.length > 0 && (length > MAX_LENGTH || costMs > MAX_MS)) break
      frame.push(answer)
      answer.asker.resumes += 1
      answers.shift()
      this.#sites.delete(key)
      if (answers.length > 0) this.#sites.set(key, answers)
    }
    return frame
  }

  /** Takes out all of them. */
  drain(): HostCallAnswer[] {
    const answers = [...this.#sites.values()].flat()
    this.#sites.clear()
    return answers
  }
}

const costOf = ({ resumeMs, partMs }: PendingCall): number =>
  (resumeMs > LONG_MS ? resumeMs : Math.min(resumeMs, SHORT_MS)) + partMs * PART_WEIGHT
