import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const WINDOWS = [
  { name: 'minute', rule: perWindow(5, MINUTE_MS) },
  { name: 'hour', rule: perWindow(20, HOUR_MS) },
] as const

export interface AdmittedSubmission {
  /** It was nothing new. */
  withdraw(): Promise<void>
}

/** The gate before a site's contact form: 5 a minute and 20 an hour from one network. */
export class ContactRateLimiter {
  readonly #counters: Counters

  constructor(deps: { readonly counters: Counters }) {
    this.#counters = deps.counters
  }

  /** Counts a submission; 429 when that were too many. One that is turned away does not count. */
  async admit(siteId: string, address: string): Promise<AdmittedSubmission> {
    const counted: (() => Promise<void>)[] = []
    const withdraw = async (): Promise<void> => {
      await Promise.all(counted.map((takeBack) => takeBack()))
    }
    for (const { name, rule } of WINDOWS) {
      const key: CounterKey = { siteId, name: `contact ${name} ${networkOf(address)}` }
      const { admitted, waitMs } = await this.#counters.step(key, rule, 'begin')
      if (!admitted) {
        await withdraw()
        throw tooMany(Math.ceil(waitMs / 1000))
      }
      counted.push(async () => {
        await this.#counters.step(key, rule, 'undo')
      })
    }
    return { withdraw }
  }
}

const tooMany = (waitSeconds: number): AppError =>
  new AppError(
    'TooManyRequests',
    `Too many messages from one place: try again in ${waitSeconds} seconds`,
    {
      retryAfterSeconds: waitSeconds,
    },
  )
