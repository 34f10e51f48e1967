import { AppError, notFound } from '#base/app-error.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import { GOOGLE } from '#identity/federation/model.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { SecurityEventRecord } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Sessions } from '#identity/sessions/sessions.ts'
import type { UserKey } from '#identity/user-key.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { type AccountEvent, type AccountExport, type SelfServiceAccount } from './model.ts'
import { storableName } from './name.ts'
import {
  deleteOwnIdentities,
  selectOwnAccount,
  selectOwnAddressChanges,
  selectOwnApp,
  selectOwnConsents,
  selectOwnGroups,
  selectOwnIdentities,
  selectOwnPasskeys,
  selectPasswordChange,
  updateName,
} from './queries.ts'

const MAX_EXPORTED_EVENTS = 1000

/** Where the account is, and where its owner asks from. */
type OwnerRequest = Pick<PoolRequest, 'site' | 'pool'>

/** Accounts in the hands of their owners, who are signed in. 404 `UserNotFound` for an account that has ended since. */
export class SelfService {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly events: SecurityEvents
      readonly authEmails: AuthEmails
      readonly sessions: Sessions
    },
  ) {
    this.#deps = deps
  }

  get({ site, pool }: OwnerRequest, sub: string): Promise<SelfServiceAccount> {
    const user = { userPoolId: pool.userPoolId, sub }
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const { email, emailVerified, name, role, createdAt } = await this.#account(tx, user)
      const identities = await selectOwnIdentities(tx, user)
      return {
        sub,
        email,
        emailVerified,
        name,
        role,
        createdAt,
        hasPassword: (await selectPasswordChange(tx, user)) !== undefined,
        google: identities.find(({ issuer }) => issuer === pool.google?.issuer),
      }
    })
  }

  /** Empty takes the name away. 400 `ValidationError`. */
  async rename({ site, pool, origin }: PoolRequest, sub: string, typed: string): Promise<void> {
    const { database, clock, events } = this.#deps
    const name = storableName(typed)
    await database.withSite(site.siteId, async (tx) => {
      const user = { userPoolId: pool.userPoolId, sub }
      const { email, name: before } = await this.#account(tx, user)
      if (before === name) return
      if (!(await updateName(tx, user, name, clock.now()))) throw notFound('User', sub)
      const event = { event: 'user.changed', pool: pool.kind, sub, email, origin } as const
      await events.record(tx, { ...event, detail: { fields: 'name' } })
    })
  }

  /** 409 `PasswordMissing` for an account that would have no way to sign in afterwards. Nothing happens when none is linked. */
  async unlinkGoogle({ site, pool, origin }: PoolRequest, sub: string): Promise<void> {
    const { database, events, authEmails } = this.#deps
    const user = { userPoolId: pool.userPoolId, sub }
    await database.withSite(site.siteId, async (tx) => {
      const { email } = await this.#account(tx, user)
      if ((await selectPasswordChange(tx, user)) === undefined) throw passwordMissing()
      if (!(await deleteOwnIdentities(tx, user))) return
      const event = { event: 'provider.unlinked', pool: pool.kind, sub, email, origin } as const
      await events.record(tx, { ...event, detail: { provider: GOOGLE } })
      const mail = { kind: 'provider-unlinked', provider: GOOGLE, to: email } as const
      await authEmails.send(tx, site, mail, origin)
    })
  }

  /** Everything that is kept about the account. */
  async export({ site, pool }: OwnerRequest, sub: string): Promise<AccountExport> {
    const { database, sessions, events } = this.#deps
    const user = { userPoolId: pool.userPoolId, sub }
    const kept = await database.withSite(site.siteId, async (tx) => ({
      account: await this.#account(tx, user),
      signInMethods: {
        password: (await selectPasswordChange(tx, user)) ?? null,
        authenticatorApp: (await selectOwnApp(tx, user)) ?? null,
        passkeys: await selectOwnPasskeys(tx, user),
        providers: await selectOwnIdentities(tx, user),
      },
      applications: await selectOwnConsents(tx, user),
      groups: await selectOwnGroups(tx, user),
      addressChanges: await selectOwnAddressChanges(tx, user),
    }))
    const page = { limit: MAX_EXPORTED_EVENTS, after: undefined }
    const { items } = await events.list(site.siteId, { sub }, page)
    const signIns = await sessions.list(site, pool, sub)
    return {
      ...kept,
      signIns: signIns.map(({ sessionId: _sessionId, ...signIn }) => signIn),
      events: items.map(eventForOwner),
    }
  }

  async #account(tx: SiteTx, user: UserKey) {
    const account = await selectOwnAccount(tx, user)
    if (!account) throw notFound('User', user.sub)
    return account
  }
}

const passwordMissing = (): AppError => new AppError('PasswordMissing', t('error.password-missing'))

const eventForOwner = ({
  at,
  event,
  actor,
  address,
  userAgent,
  detail,
}: SecurityEventRecord): AccountEvent => ({
  at,
  event,
  ...(actor === null ? { address, userAgent } : { address: null, userAgent: null }),
  detail,
})
