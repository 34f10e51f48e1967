import { BreachedList } from './breached-list.ts'
import { CommonPasswords } from './common-passwords.ts'

/** Passwords that are known to attackers. An installation may put a bigger list, or a service, in the place of ours. */
export interface BreachedPasswords {
  has(password: string): boolean | Promise<boolean>
}

/** What attackers try first: common words with what people add to them, and what was stolen elsewhere. */
export class KnownPasswords implements BreachedPasswords {
  readonly #common = new CommonPasswords()
  readonly #breached = new BreachedList()

  async has(password: string): Promise<boolean> {
    return this.#common.has(password) || this.#breached.has(password)
  }
}
