import { type Effect, EFFECTS, type StepUp } from '#base/effects.ts'
import { requireRecentSignIn } from '#identity/recent-sign-in.ts'

/** With `?`: what the request asks for decides, so the service that finds it out asks for the step-up. */
export type DeclaredEffect = Effect | `${Effect}?`

/** Effects for which the request itself proves the caller, instead of a recent sign-in. */
interface ProvenEffects {
  readonly effects: readonly DeclaredEffect[]
  readonly proof: string
}

/** What a route declares. */
export type RouteEffects = readonly DeclaredEffect[] | ProvenEffects

export interface EffectsDetail {
  readonly 'x-effects': readonly DeclaredEffect[]
  /** What in the request proves the caller. */
  readonly 'x-proof'?: string
}

/** `effects: provenBy('a mailed code', ['movesAccount'])` */
export const provenBy = (proof: string, effects: readonly DeclaredEffect[]): ProvenEffects => ({
  effects,
  proof,
})

/** What the owner of an account gives in the request that moves it. */
export const OWNER_PROOF = 'a password, a passkey or a mailed code'

/** Marks a route in the table. For a route that admits its callers itself; the others name `effects` beside their authority. */
export const effectsDetail = (declared: RouteEffects): EffectsDetail =>
  'proof' in declared
    ? { 'x-effects': declared.effects, 'x-proof': declared.proof }
    : { 'x-effects': declared }

/** The rule for the effects of one route; without a declaration it has none. */
export class StepUpRule {
  readonly #declared: readonly string[]
  readonly #isProven: boolean

  constructor(declared: RouteEffects = []) {
    const { 'x-effects': effects, 'x-proof': proof } = effectsDetail(declared)
    this.#declared = effects
    this.#isProven = proof !== undefined
  }

  /**
   * Throws 403 `RecentSignInRequired` for an effect that the route always has, unless that sign-in is recent. Returns what services
   * call for the others.
   */
  check(signIn: { readonly authTime: Date }, now: Date): StepUp {
    const require = () => {
      if (!this.#isProven) requireRecentSignIn(signIn, now)
    }
    if (EFFECTS.some((effect) => this.#declared.includes(effect))) require()
    return (effect) => {
      if (!this.#declared.some((declared) => declared.replace('?', '') === effect)) {
        throw new Error(`The route does not declare the effect "${effect}"`)
      }
      require()
    }
  }
}
