import { type CounterRule, type Counters, perWindow } from '#platform/redis/counters.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Window {
  readonly name: string
  readonly rule: CounterRule
}

interface AdmittedMail {
  /** Those that may be mailed now. */
  readonly targets: ReadonlySet<string>
  /** They were not mailed after all. */
  withdraw(): Promise<void>
}

/**
 * How often a site mails the same address, and how many a mailbox and all of the site together, so that nobody is flooded
 * by somebody who may name targets.
 */
export class VerificationLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts a mail for each target that is within every limit; the others count nowhere. */
  async admit(
    siteId: string,
    mailboxId: string,
    targets: readonly string[],
  ): Promise<AdmittedMail> {
    const admitted = new Map<string, readonly Window[]>()
    for (const target of targets) {
      const windows = windowsOf(mailboxId, target)
      if (await this.#count(siteId, windows)) admitted.set(target, windows)
    }
    return {
      targets: new Set(admitted.keys()),
      withdraw: async () => {
        await this.#takeBack(siteId, [...admitted.values()].flat())
      },
    }
  }

  async #count(siteId: string, windows: readonly Window[]): Promise<boolean> {
    for (const [at, { name, rule }] of windows.entries()) {
      const { admitted } = await this.#counters.step({ siteId, name }, rule, 'begin')
      if (admitted) continue
      await this.#takeBack(siteId, windows.slice(0, at))
      return false
    }
    return true
  }

  async #takeBack(siteId: string, windows: readonly Window[]): Promise<void> {
    for (const { name, rule } of windows) {
      await this.#counters.step({ siteId, name }, rule, 'undo')
    }
  }
}

const windowsOf = (mailboxId: string, target: string): readonly Window[] => [
  { name: `forwarding target minute ${target}`, rule: perWindow(1, MINUTE_MS) },
  { name: `forwarding target hour ${target}`, rule: perWindow(5, HOUR_MS) },
  { name: `forwarding mailbox ${mailboxId}`, rule: perWindow(40, HOUR_MS) },
  { name: 'forwarding site', rule: perWindow(200, HOUR_MS) },
]
