import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Clock } from '#base/clock.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000
const MAX_LENGTH = 2_000

/** The parameter of a page's address that carries it. */
export const FLOW = 'flow'

/** The state that one page of the sign-in hands to the next. */
const Flow = Type.Union([
  Type.Object({
    step: Type.Literal('confirm'),
    email: Type.String(),
    registrationId: Type.String(),
    resent: Type.Optional(Type.Literal(true)),
  }),
  Type.Object({
    step: Type.Literal('reset'),
    email: Type.String(),
    resent: Type.Optional(Type.Literal(true)),
  }),
  Type.Object({ step: Type.Literal('password-reset'), email: Type.String() }),
  /** The password of that account was right then. */
  Type.Object({
    step: Type.Literal('second-factor'),
    sub: Type.String(),
    authTimeMs: Type.Number(),
  }),
  /** What was just done on the account's page; `detail` is an address. */
  Type.Object({
    step: Type.Literal('account'),
    done: Type.String(),
    detail: Type.Optional(Type.String()),
  }),
])
export type Flow = Static<typeof Flow>

const Sealed = Type.Object({ flow: Flow, expiresAtMs: Type.Number() })

/** Carries a flow in a URL: sealed, for a day, and for one browser, so that nobody is led into another's flow. */
export class Flows {
  readonly #key: Uint8Array
  readonly #clock: Clock

  constructor(key: Uint8Array, clock: Clock) {
    this.#key = key
    this.#clock = clock
  }

  seal(flow: Flow, browser: string): string {
    const sealed = { flow, expiresAtMs: this.#clock.now().getTime() + LIFETIME_MS }
    return encrypt(this.#key, browser, Buffer.from(JSON.stringify(sealed))).toString('base64url')
  }

  /** Undefined for a flow that was sealed for another browser, changed, or expired. */
  open(text: string, browser: string): Flow | undefined {
    if (text.length > MAX_LENGTH) return undefined
    const opened = decrypt(this.#key, browser, Buffer.from(text, 'base64url'))
    if (!opened) return undefined
    const sealed: unknown = JSON.parse(opened.toString())
    if (!Value.Check(Sealed, sealed)) return undefined
    return sealed.expiresAtMs > this.#clock.now().getTime() ? sealed.flow : undefined
  }
}
