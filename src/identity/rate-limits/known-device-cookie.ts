import { createHash, randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Clock } from '#base/clock.ts'
import { canonicalEmail } from '#identity/email.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

/** As long as browsers keep a cookie at most. */
const LIFETIME_MS = 400 * 24 * 3600 * 1000
const MAX_ACCOUNTS = 5
const MAX_LENGTH = 1500
const ID_BYTES = 12

/** By the hash of the address: which name the browser has for the limits of that account. The newest is first. */
const Sealed = Type.Object({
  accounts: Type.Array(Type.Tuple([Type.String(), Type.String()]), { maxItems: MAX_ACCOUNTS }),
  untilMs: Type.Number(),
})

type Accounts = readonly (readonly [account: string, id: string])[]

/**
 * Browsers with an earlier sign-in, by an encrypted cookie. It is no proof of identity: it only gives the browser counters of its
 * own, which strangers cannot fill.
 */
export class KnownDeviceCookie {
  readonly #key: Uint8Array
  readonly #clock: Clock

  constructor(deps: { readonly key: Uint8Array; readonly clock: Clock }) {
    this.#key = deps.key
    this.#clock = deps.clock
  }

  /** The name that the browser with that cookie has for an account; undefined without a sign-in to it there. */
  idOf(cookie: string | undefined, issuer: string, email: string): string | undefined {
    const account = accountOf(email)
    return this.#open(cookie, issuer).find(([each]) => each === account)?.[1]
  }

  /** The cookie of a browser in which the account has just signed in, with the others that it has. */
  remember(
    cookie: string | undefined,
    issuer: string,
    email: string,
  ): { readonly cookie: string; readonly expiresAt: Date } {
    const account = accountOf(email)
    const known = this.#open(cookie, issuer)
    const id = known.find(([each]) => each === account)?.[1] ?? newId()
    const others = known.filter(([each]) => each !== account)
    const untilMs = this.#clock.now().getTime() + LIFETIME_MS
    const sealed = { accounts: [[account, id], ...others].slice(0, MAX_ACCOUNTS), untilMs }
    const bytes = encrypt(this.#key, issuer, Buffer.from(JSON.stringify(sealed)))
    return { cookie: bytes.toString('base64url'), expiresAt: new Date(untilMs) }
  }

  #open(cookie: string | undefined, issuer: string): Accounts {
    if (cookie === undefined || cookie.length > MAX_LENGTH) return []
    const opened = decrypt(this.#key, issuer, Buffer.from(cookie, 'base64url'))
    if (!opened) return []
    const sealed: unknown = JSON.parse(opened.toString())
    if (!Value.Check(Sealed, sealed)) return []
    return sealed.untilMs > this.#clock.now().getTime() ? sealed.accounts : []
  }
}

const newId = (): string => randomBytes(ID_BYTES).toString('base64url')

const accountOf = (email: string): string =>
  createHash('sha256').update(canonicalEmail(email)).digest('base64url').slice(0, 22)
