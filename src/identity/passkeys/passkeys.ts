import { createHash } from 'node:crypto'

import { AppError, invalid } from '#base/app-error.ts'
import { isSameText } from '#base/same-text.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { storableName } from '#identity/self-service/name.ts'
import { UsedChallenges } from '#identity/used-challenges/used-challenges.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import { parseAssertion, parseAttestation, provenKey, provenUse } from './ceremonies.ts'
import { CHALLENGE_MS, MAX_PASSKEYS, type Passkey } from './model.ts'
import {
  countPasskeys,
  deletePasskey,
  insertPasskey,
  selectPasskeyForUpdate,
  selectPasskeys,
  updateUse,
} from './queries.ts'

/** What a browser's script sends, and the challenge that it was given. */
export interface PasskeyProof {
  /** The credential as JSON. */
  readonly credential: string
  /** base64url; undefined for one that was not given to this browser, or has expired. It may come back once. */
  readonly challenge: string | undefined
}

/** Keys that accounts' devices hold: with their owner's touch they are all that signing in takes. */
export class Passkeys {
  readonly #deps
  readonly #used: UsedChallenges

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly users: Users
      readonly events: SecurityEvents
      readonly authEmails: AuthEmails
      readonly rateLimiter: Pick<AuthRateLimiter, 'attemptUnnamed'>
    },
  ) {
    this.#deps = deps
    this.#used = new UsedChallenges(deps, 'used_passkey_challenge')
  }

  /** The oldest first. */
  async list(site: Site, pool: Pool, sub: string): Promise<readonly Passkey[]> {
    const rows = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectPasskeys(tx, { userPoolId: pool.userPoolId, sub }),
    )
    return rows.map((row) => ({ ...row, credentialId: row.credentialId.toString('base64url') }))
  }

  /** 400 `ValidationError` for what proves nothing, for a key that is known, and for one too many. */
  async add(
    request: PoolRequest,
    sub: string,
    { credential, challenge, name }: PasskeyProof & { readonly name: string },
  ): Promise<void> {
    const { site, pool } = request
    const attestation = parseAttestation(credential)
    if (!attestation || !challenge || !(await this.#useOnce(site, challenge))) throw notMade()
    const key = await provenKey(pool, attestation, challenge)
    if (!key) throw notMade()
    const user = { userPoolId: pool.userPoolId, sub }
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const owner = await this.#deps.users.active(tx, pool.userPoolId, sub)
      if ((await countPasskeys(tx, user)) >= MAX_PASSKEYS) throw tooMany()
      const added = await insertPasskey(tx, user, {
        credentialId: Buffer.from(key.credentialId, 'base64url'),
        publicKey: key.publicKey,
        signCount: String(key.signCount),
        transports: key.transports,
        name: storableName(name) ?? 'Passkey',
        createdAt: this.#deps.clock.now(),
      })
      if (!added) throw invalid('credential', t('fault.passkey-known'))
      await this.#tell(tx, request, owner, 'passkey.added')
    })
  }

  /** Nothing happens for one that is gone. */
  async remove(request: PoolRequest, sub: string, credentialId: string): Promise<void> {
    const { site, pool } = request
    const user = { userPoolId: pool.userPoolId, sub }
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const owner = await this.#deps.users.active(tx, pool.userPoolId, sub)
      if (!(await deletePasskey(tx, user, Buffer.from(credentialId, 'base64url')))) return
      await this.#tell(tx, request, owner, 'passkey.removed')
    })
  }

  /** Whose key it is. 401 `InvalidCredentials` for what proves nothing, whatever the reason; 429. */
  async authenticate(request: PoolRequest, proof: PasskeyProof): Promise<{ readonly sub: string }> {
    const sub = await this.#deps.rateLimiter.attemptUnnamed(request, () =>
      this.#ownerOf(request, proof),
    )
    if (sub !== undefined) return { sub }
    await this.#noteFailure(request)
    throw notKnown()
  }

  async #ownerOf(
    { site, pool }: PoolRequest,
    { credential, challenge }: PasskeyProof,
  ): Promise<string | undefined> {
    const assertion = parseAssertion(credential)
    // The library takes an empty one for any that is empty.
    if (!assertion || !challenge || !(await this.#useOnce(site, challenge))) return undefined
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const credentialId = Buffer.from(assertion.id, 'base64url')
      const stored = await selectPasskeyForUpdate(tx, pool.userPoolId, credentialId)
      const handle = Buffer.from(assertion.response.userHandle ?? '', 'base64url').toString()
      if (!stored || !isSameText(handle, stored.sub)) return undefined
      const { publicKey, signCount } = stored
      const use = await provenUse(pool, assertion, {
        credentialId: assertion.id,
        publicKey,
        signCount: Number(signCount),
        challenge,
      })
      if (!use) return undefined
      await updateUse(tx, pool.userPoolId, credentialId, { ...use, now: this.#deps.clock.now() })
      const user = await this.#deps.users.find(tx, pool.userPoolId, stored.sub)
      return user?.status === 'ACTIVE' ? stored.sub : undefined
    })
  }

  /** False for a challenge that has come back before, rightly or wrongly. */
  #useOnce({ siteId }: Site, challenge: string): Promise<boolean> {
    const id = createHash('sha256').update(challenge).digest()
    const expiresAt = new Date(this.#deps.clock.now().getTime() + CHALLENGE_MS)
    return this.#deps.database.withSite(siteId, (tx) => this.#used.use(tx, { id, expiresAt }))
  }

  #noteFailure({ site, pool, origin }: PoolRequest): Promise<void> {
    const event = { event: 'sign-in.failed', pool: pool.kind, origin } as const
    return this.#deps.events.note(site.siteId, { ...event, detail: { method: 'passkey' } })
  }

  async #tell(
    tx: SiteTx,
    { site, pool, origin }: PoolRequest,
    { sub, email, activeEmail }: User,
    event: SecurityEventName,
  ): Promise<void> {
    await this.#deps.events.record(tx, { event, pool: pool.kind, sub, email, origin })
    const kind = event === 'passkey.added' ? 'passkey-added' : 'passkey-removed'
    const mail = { kind, pool: pool.kind, to: activeEmail } as const
    await this.#deps.authEmails.send(tx, site, mail, origin)
  }
}

const notMade = (): AppError => invalid('credential', t('fault.passkey-not-made'))

const tooMany = (): AppError =>
  invalid('credential', t('fault.passkey-too-many', { count: MAX_PASSKEYS }))

const notKnown = (): AppError => new AppError('InvalidCredentials', t('error.passkey'))
