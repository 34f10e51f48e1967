import { AppError, type DisplayText, faultOf } from '#base/app-error.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { passwordKeySealContext } from './hash-keys.ts'
import { type PasswordHasher, normalizePassword } from './hasher.ts'
import type { BreachedPasswords } from './known-passwords.ts'
import { passwordFaults } from './policy.ts'
import {
  type StoredPassword,
  deletePassword,
  insertPassword,
  selectPassword,
  selectPasswordKey,
  updatePassword,
  upsertPassword,
} from './queries.ts'
import { type SrpVerifier, type SrpVerifiers, srpSealContext } from './srp-verifiers.ts'

export interface NewPassword {
  readonly sub: string
  readonly email: string
  readonly password: string
  /** The address of the client that sets it: the work is shared out by network. */
  readonly address: string
}

/** A password that passed the policy, hashed and ready to be stored. */
export interface PreparedPassword {
  readonly hash: string
  /** When a client of the pool may use the Cognito API. */
  readonly srp?: SrpVerifier | undefined
}

/** What a right password at sign-in was compared with. */
export interface VerifiedPassword extends NewPassword {
  readonly hash: string
}

/** Passwords of accounts. Hashing costs tens of milliseconds, so it is never done inside a transaction. */
export class Passwords {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly hasher: PasswordHasher
      readonly breachedPasswords: BreachedPasswords
      readonly srpVerifiers?: SrpVerifiers | undefined
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
    },
  ) {
    this.#deps = deps
  }

  /** 400 `InvalidPassword`, each fault in `details`. */
  async check(
    pool: Pool,
    { email, password }: Pick<NewPassword, 'email' | 'password'>,
  ): Promise<void> {
    const domain = pool.relyingPartyId
    const faults = passwordFaults(pool.settings.passwordPolicy, password, { email, domain })
    if (faults.length > 0) throw invalidPassword(faults)
    if (await this.#deps.breachedPasswords.has(normalizePassword(password))) {
      throw invalidPassword(['is one of the passwords that attackers try first'])
    }
  }

  /** Checks, then hashes. 400 `InvalidPassword`. */
  async prepare(pool: Pool, password: NewPassword): Promise<PreparedPassword> {
    await this.check(pool, password)
    return this.hash(pool, password)
  }

  /** For a password that has been checked. */
  async hash(pool: Pool, { email, password, address }: NewPassword): Promise<PreparedPassword> {
    const hash = await this.#deps.hasher.hash(password, address)
    if (!this.#deps.srpVerifiers || !wantsSrp(pool)) return { hash }
    const srp = await this.#deps.srpVerifiers.derive(pool.userPoolId, {
      email: canonicalEmail(email),
      password: normalizePassword(password),
      address,
    })
    return { hash, srp }
  }

  /** The same work whether there is a stored hash or not. */
  verify(hash: string | undefined, password: string, address: string): Promise<boolean> {
    return this.#deps.hasher.verify(hash, password, address)
  }

  /** Sets a password, or replaces the one that there is. */
  async store(tx: SiteTx, pool: Pool, sub: string, prepared: PreparedPassword): Promise<void> {
    await this.storeSealed(tx, pool, sub, await this.seal(tx, pool, sub, prepared))
  }

  /** False when there is a password already. */
  async add(tx: SiteTx, pool: Pool, sub: string, prepared: PreparedPassword): Promise<boolean> {
    const stored = await this.seal(tx, pool, sub, prepared)
    return insertPassword(tx, ownerOf(pool, sub), stored, this.#deps.clock.now())
  }

  /** False when the password is not `oldHash` any more. */
  async replace(
    tx: SiteTx,
    pool: Pool,
    { sub, oldHash }: { readonly sub: string; readonly oldHash: string },
    prepared: PreparedPassword,
  ): Promise<boolean> {
    const stored = await this.seal(tx, pool, sub, prepared)
    return updatePassword(tx, ownerOf(pool, sub), { oldHash, stored }, this.#deps.clock.now())
  }

  /** No sign-in uses it any more; a reset sets a new one. */
  async remove(tx: SiteTx, owner: UserKey): Promise<void> {
    await deletePassword(tx, owner)
  }

  async exists(tx: SiteTx, pool: Pool, sub: string): Promise<boolean> {
    return (await selectPassword(tx, ownerOf(pool, sub))) !== undefined
  }

  async hashOf(tx: SiteTx, pool: Pool, sub: string): Promise<string | undefined> {
    const hash = (await selectPassword(tx, ownerOf(pool, sub)))?.hash
    if (hash !== undefined) await this.#learnKeyOf(tx, hash)
    return hash
  }

  /** Undefined when the password was set before a client of the pool could use the Cognito API. */
  async srpVerifier(tx: SiteTx, pool: Pool, sub: string): Promise<SrpVerifier | undefined> {
    const stored = await selectPassword(tx, ownerOf(pool, sub))
    return stored?.sealedSrp ? this.openSrp(tx, pool, sub, stored.sealedSrp) : undefined
  }

  /** Opens the verifier of an account, or of the sign-up that is to become it. */
  async openSrp(tx: SiteTx, pool: Pool, sub: string, sealedSrp: Buffer): Promise<SrpVerifier> {
    const siteKey = await this.#deps.siteKeys.wrapped(tx)
    return unpackSrp(
      this.#deps.sealer.open(siteKey, srpSealContext(pool.userPoolId, sub), sealedSrp),
    )
  }

  /**
   * Stores the password again when it was hashed at another cost than today's, or lacks a verifier that the pool's clients need
   * now. For a user who has just proven to know it.
   */
  async renew(site: Site, pool: Pool, verified: VerifiedPassword): Promise<void> {
    const outdated = this.#deps.hasher.isOutdated(verified.hash)
    if (!outdated && !(await this.#lacksSrp(site, pool, verified))) return
    const prepared = await this.hash(pool, verified)
    await this.#deps.database.withSite(site.siteId, (tx) =>
      this.replace(tx, pool, { sub: verified.sub, oldHash: verified.hash }, prepared),
    )
  }

  /** As it is kept until its account exists. */
  async seal(
    tx: SiteTx,
    pool: Pool,
    sub: string,
    { hash, srp }: PreparedPassword,
  ): Promise<StoredPassword> {
    if (!srp) return { hash, sealedSrp: null }
    const siteKey = await this.#deps.siteKeys.wrapped(tx)
    return {
      hash,
      sealedSrp: this.#deps.sealer.seal(
        siteKey,
        srpSealContext(pool.userPoolId, sub),
        packSrp(srp),
      ),
    }
  }

  async storeSealed(tx: SiteTx, pool: Pool, sub: string, stored: StoredPassword): Promise<void> {
    await upsertPassword(tx, ownerOf(pool, sub), stored, this.#deps.clock.now())
  }

  /** Who came from another installation is known by its key until the next sign-in. */
  async #learnKeyOf(tx: SiteTx, hash: string): Promise<void> {
    const { hasher, sealer, siteKeys } = this.#deps
    const keyId = hasher.lackingKey(hash)
    if (keyId === undefined) return
    const sealed = await selectPasswordKey(tx, keyId)
    if (sealed === undefined) return
    const key = sealer.open(await siteKeys.wrapped(tx), passwordKeySealContext(keyId), sealed)
    hasher.learnKey(keyId, key)
  }

  async #lacksSrp(site: Site, pool: Pool, { sub, email }: NewPassword): Promise<boolean> {
    if (!this.#deps.srpVerifiers || !wantsSrp(pool)) return false
    const verifier = await this.#deps.database.withSite(site.siteId, (tx) =>
      this.srpVerifier(tx, pool, sub),
    )
    return !this.#deps.srpVerifiers.fits(verifier, pool.userPoolId, canonicalEmail(email))
  }
}

const wantsSrp = (pool: Pool): boolean =>
  [...pool.clients.values()].some((client) => client.cognitoApi)

const invalidPassword = (faults: readonly DisplayText[]): AppError =>
  new AppError('InvalidPassword', `The password ${String(faults[0])}`, {
    details: faults.map((fault) => faultOf('password', fault)),
  })

const ownerOf = ({ userPoolId }: Pool, sub: string) => ({ userPoolId, sub })

/** The salt's length, the salt, the verifier. */
const packSrp = ({ salt, verifier }: SrpVerifier): Buffer =>
  Buffer.concat([Buffer.from([salt.length]), salt, verifier])

function unpackSrp(bytes: Buffer): SrpVerifier {
  const end = 1 + (bytes[0] ?? 0)
  return { salt: bytes.subarray(1, end), verifier: bytes.subarray(end) }
}
