import type { Clock } from '#base/clock.ts'
import type { AccountServices } from '#identity/accounts/open-accounts.ts'
import type { SrpSignIns } from '#identity/cognito/srp-sign-ins.ts'
import type { Passkeys } from '#identity/passkeys/passkeys.ts'
import type { AddressCodes } from '#identity/profiles/address-codes.ts'
import type { SignInProofs } from '#identity/proofs/sign-in-proofs.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { AccountDeletions } from '#identity/self-service/deletions.ts'
import type { SelfService } from '#identity/self-service/self-service.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { TokenEndpoint } from '#identity/token-endpoint/token-endpoint.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { Users } from '#identity/users/users.ts'
import type { Database } from '#platform/postgres/database.ts'

import type { MfaSessions } from './mfa-sessions.ts'
import type { PasskeyChallengeSessions } from './passkey-challenge-sessions.ts'

/** What the operations are made of: the same services as the hosted sign-in. */
export interface CognitoServices extends AccountServices {
  readonly database: Database
  readonly clock: Clock
  readonly srpSignIns: SrpSignIns
  readonly tokenEndpoint: TokenEndpoint
  readonly signOut: SignOut
  readonly verifier: TokenVerifier
  readonly users: Users
  readonly selfService: SelfService
  readonly accountDeletions: AccountDeletions
  readonly addressCodes: AddressCodes
  readonly signInProofs: SignInProofs
  readonly events: SecurityEvents
  readonly mfaSessions: MfaSessions
  readonly passkeys: Passkeys
  readonly passkeyChallenges: PasskeyChallengeSessions
}
