import { GuessLimits } from '#identity/rate-limits/guess-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

/** How often a network may try passwords that are wrong. */
export class LoginLimits {
  readonly #guesses: GuessLimits

  constructor({ counters }: { readonly counters: Counters }) {
    this.#guesses = new GuessLimits({ counters, of: 'submission' })
  }

  /** Throws a 421 for a network that has failed too often. */
  async check(address: string): Promise<void> {
    if ((await this.#guesses.waitMs(address)) === 0) return
    throw new SmtpReply(421, '4.7.0', 'Too many failed logins from your network: try again later')
  }

  /** Afterwards: how many guess at once is bounded by the connections of a network. */
  failed(address: string): Promise<void> {
    return this.#guesses.failed(address)
  }
}
