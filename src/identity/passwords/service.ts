import { AppError } from '#base/app-error.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { SrpVerifier } from './srp-verifiers.ts'

export interface NewPassword {
  readonly sub: string
  readonly email: string
  readonly password: string
}

/** A password that passed the policy, hashed and ready to be stored. */
export interface PreparedPassword {
  readonly hash: string
  /** When a client of the pool may use the Cognito API. */
  readonly srp?: SrpVerifier | undefined
}

/** Passwords of accounts. Hashing costs tens of milliseconds, so it is never done inside a transaction. */
export class Passwords {
  /** 400 `InvalidPassword`, each fault in `details`. */
  prepare(_pool: Pool, _password: NewPassword): Promise<PreparedPassword> {
    return notYet()
  }

  store(_tx: SiteTx, _pool: Pool, _sub: string, _prepared: PreparedPassword): Promise<void> {
    return notYet()
  }

  exists(_tx: SiteTx, _pool: Pool, _sub: string): Promise<boolean> {
    return notYet()
  }

  /** Undefined when the password was set before a client of the pool could use the Cognito API. */
  srpVerifier(_tx: SiteTx, _pool: Pool, _sub: string): Promise<SrpVerifier | undefined> {
    return notYet()
  }
}

const notYet = (): Promise<never> =>
  Promise.reject(new AppError('NotImplemented', 'Passwords are not there yet'))
