import { type Static, Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'

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
  /** Signed in then for a client that the user has to be asked about. */
  Type.Object({ step: Type.Literal('consent'), sub: Type.String(), authTimeMs: Type.Number() }),
  /** What was just done on the account's page; `detail` is an address. */
  Type.Object({
    step: Type.Literal('account'),
    done: Type.String(),
    detail: Type.Optional(Type.String()),
  }),
])
export type Flow = Static<typeof Flow>

const Content = Type.Object({ flow: Flow })

/** Carries a flow in a URL: encrypted, for a day, and for one browser, so that it cannot continue in another browser. */
export class Flows {
  readonly #seal: ExpiringSeal<typeof Content>

  constructor(key: Uint8Array, clock: Clock) {
    const bounds = { lifetimeMs: LIFETIME_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  seal(flow: Flow, browser: string): string {
    return this.#seal.seal(browser, { flow })
  }

  /** Undefined for a flow that was sealed for another browser, changed, or expired. */
  open(text: string, browser: string): Flow | undefined {
    return this.#seal.open(browser, text)?.flow
  }
}
