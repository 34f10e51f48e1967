import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

const FAILURES = perWindow(30, 10 * 60_000)
/** Counts of all sites together, where site ids stand. */
const NO_SITE = 'submission'

/** How often a network may try passwords that are wrong. */
export class LoginLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts a try as failed before its outcome is known. Throws a 421 for one too many. */
  async begin(address: string): Promise<void> {
    if ((await this.#counters.step(keyOf(address), FAILURES, 'begin')).admitted) return
    throw new SmtpReply(421, '4.7.0', 'Too many failed logins from your network: try again later')
  }

  /** Takes back one that did not fail. */
  async succeeded(address: string): Promise<void> {
    await this.#counters.step(keyOf(address), FAILURES, 'undo')
  }
}

const keyOf = (address: string): CounterKey => ({
  siteId: NO_SITE,
  name: `login ${networkOf(address)}`,
})
