import type { Clock } from '#base/clock.ts'
import type { BreachedPasswords } from '#identity/passwords/breached-passwords.ts'
import { CommonPasswords } from '#identity/passwords/common-passwords.ts'
import { PasswordHasher } from '#identity/passwords/hasher.ts'
import { Passwords } from '#identity/passwords/service.ts'
import type { SrpVerifiers } from '#identity/passwords/srp-verifiers.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { Accounts } from './service.ts'

export interface AccountsDeps {
  readonly database: Database
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly clock: Clock
  /** Ours when left out. */
  readonly breachedPasswords?: BreachedPasswords
  readonly srpVerifiers?: SrpVerifiers
}

export interface AccountParts {
  readonly passwords: Passwords
  readonly accounts: Accounts
}

export function openAccounts(deps: AccountsDeps): AccountParts {
  const passwords = new Passwords({
    breachedPasswords: new CommonPasswords(),
    ...deps,
    hasher: new PasswordHasher({ secret: deps.sealer.derive('passwords') }),
  })
  return { passwords, accounts: new Accounts() }
}
