import { BreachedList } from './breached-list.ts'
import type { BreachedPasswords } from './breached-passwords.ts'
import { CommonPasswords } from './common-passwords.ts'

/** What attackers try first: common words with what people add to them, and what was stolen elsewhere. */
export class KnownPasswords implements BreachedPasswords {
  readonly #common = new CommonPasswords()
  readonly #breached = new BreachedList()

  async has(password: string): Promise<boolean> {
    return this.#common.has(password) || this.#breached.has(password)
  }
}
