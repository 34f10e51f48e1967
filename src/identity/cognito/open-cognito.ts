import type { Clock } from '#base/clock.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import { SignInProofs } from '#identity/proofs/sign-in-proofs.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { CognitoApi } from './api/cognito-api.ts'
import type { CognitoServices } from './api/cognito-services.ts'
import { MfaSessions } from './api/mfa-sessions.ts'
import { PasskeyChallengeSessions } from './api/passkey-challenge-sessions.ts'
import { Challenges } from './challenges.ts'
import { SrpSignIns } from './srp-sign-ins.ts'
import { ModularPowers } from './srp/modular-powers.ts'
import { AddressVerifiers } from './srp/verifiers.ts'

/** What passwords are prepared with, and what the API compares with afterwards: one queue for the arithmetic of both. */
export interface SrpArithmetic {
  readonly powers: ModularPowers
  readonly verifiers: AddressVerifiers
}

export function openSrp(deps: { readonly sealer: Sealer }): SrpArithmetic {
  const powers = new ModularPowers()
  return { powers, verifiers: new AddressVerifiers({ ...deps, powers }) }
}

export function openCognito(
  deps: Omit<CognitoServices, 'srpSignIns' | 'mfaSessions' | 'passkeyChallenges' | 'signInProofs'> &
    SrpArithmetic & {
      readonly sealer: Sealer
      readonly clock: Clock
      readonly passwords: Passwords
      readonly rateLimiter: AuthRateLimiter
    },
): CognitoApi {
  const srpSignIns = new SrpSignIns({ ...deps, challenges: new Challenges(deps) })
  return new CognitoApi({
    ...deps,
    srpSignIns,
    signInProofs: new SignInProofs(deps),
    mfaSessions: new MfaSessions(deps),
    passkeyChallenges: new PasskeyChallengeSessions(deps),
  })
}
