import { AppError, notFound } from '#base/app-error.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { wrongOldPassword } from './errors.ts'
import type { OwnPasswordChange, PasswordAddition } from './model.ts'
import { lockUser } from './queries.ts'

/** Passwords in the hands of users who are signed in. */
export class OwnPasswords {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** 401 `InvalidCredentials`, 400 `InvalidPassword`, 429. Ends every sign-in but the one to keep. */
  async change(
    request: PoolRequest,
    { sub, oldPassword, newPassword, keep }: OwnPasswordChange,
  ): Promise<void> {
    const { site, pool } = request
    const { passwords, rateLimiter } = this.#deps
    const user = await this.#user(site, pool, sub)
    const { email } = user
    await passwords.check(pool, { email, password: newPassword })
    const oldHash = await rateLimiter.attempt('account', { ...request, email }, () =>
      this.#compare(request, user, oldPassword),
    )
    if (oldHash === undefined) throw wrongOldPassword()
    await this.#replace(request, user, { oldHash, newPassword, keep })
  }

  /**
   * Replaces the password of an owner who has proven to be there. 400 `InvalidPassword`, 409 `PasswordMissing`. Ends every sign-in but
   * the one to keep.
   */
  async replace(
    request: PoolRequest,
    { sub, newPassword, keep }: Omit<OwnPasswordChange, 'oldPassword'>,
  ): Promise<void> {
    const { site, pool } = request
    const { database, passwords } = this.#deps
    const user = await this.#user(site, pool, sub)
    await passwords.check(pool, { email: user.email, password: newPassword })
    const oldHash = await database.withSite(site.siteId, (tx) => passwords.hashOf(tx, pool, sub))
    if (oldHash === undefined) throw new AppError('PasswordMissing', t('error.password-missing'))
    await this.#replace(request, user, { oldHash, newPassword, keep })
  }

  async #replace(
    request: PoolRequest,
    user: User,
    {
      oldHash,
      newPassword,
      keep,
    }: Pick<OwnPasswordChange, 'newPassword' | 'keep'> & { readonly oldHash: string },
  ): Promise<void> {
    const { site, pool, origin } = request
    const { database, passwords, userCodes, events, signOut } = this.#deps
    const { sub, email } = user
    const { address } = origin
    const prepared = await passwords.hash(pool, { sub, email, password: newPassword, address })
    await database.withSite(site.siteId, async (tx) => {
      await lockUser(tx, { userPoolId: pool.userPoolId, sub })
      const replaced = await passwords.replace(tx, pool, { sub, oldHash }, prepared)
      // Another request changed it while we were checking the old one.
      if (!replaced) throw wrongOldPassword()
      // A person who has asked for a reset was about to set a password, too.
      await userCodes.deleteResets(tx, { userPoolId: pool.userPoolId, sub })
      await signOut.everywhere(tx, pool, sub, {
        ...keep,
        by: { type: 'owner', origin },
      })
      await events.record(tx, { event: 'password.changed', pool: pool.kind, sub, email, origin })
      await this.#notify(tx, request, user)
    })
  }

  /** 409 `PasswordAlreadySet`, 400 `InvalidPassword`. */
  async add(request: PoolRequest, { sub, password }: PasswordAddition): Promise<void> {
    const { site, pool, origin } = request
    const { database, passwords, events } = this.#deps
    const user = await this.#user(site, pool, sub)
    const { email } = user
    await this.requireNone(request, sub)
    const { address } = origin
    const prepared = await passwords.prepare(pool, { sub, email, password, address })
    await database.withSite(site.siteId, async (tx) => {
      const account = await lockUser(tx, { userPoolId: pool.userPoolId, sub })
      if (!account) throw notFound('User', sub)
      if (!(await passwords.add(tx, pool, sub, prepared))) throw alreadySet()
      await events.record(tx, { event: 'password.added', pool: pool.kind, sub, email, origin })
      await this.#notify(tx, request, user)
    })
  }

  /** 409 `PasswordAlreadySet`. */
  async requireNone({ site, pool }: PoolRequest, sub: string): Promise<void> {
    if (await this.has(site, pool, sub)) throw alreadySet()
  }

  has(site: Site, pool: Pool, sub: string): Promise<boolean> {
    const { database, passwords } = this.#deps
    return database.withSite(site.siteId, (tx) => passwords.exists(tx, pool, sub))
  }

  /** The stored hash, when the password is the one that it is of. */
  async #compare(
    { site, pool, origin }: PoolRequest,
    { sub, email }: User,
    password: string,
  ): Promise<string | undefined> {
    const { database, passwords, events } = this.#deps
    const hash = await database.withSite(site.siteId, (tx) => passwords.hashOf(tx, pool, sub))
    if (await passwords.verify(hash, password, origin.address)) return hash
    const event = 'sign-in.failed'
    const detail = { when: 'changing the password' }
    await events.note(site.siteId, { event, pool: pool.kind, sub, email, origin, detail })
    return undefined
  }

  #user(site: Site, { userPoolId }: Pool, sub: string): Promise<User> {
    const { database, users } = this.#deps
    return database.withSite(site.siteId, (tx) => users.active(tx, userPoolId, sub))
  }

  #notify(tx: SiteTx, { site, pool, origin }: PoolRequest, user: User): Promise<void> {
    const email = { kind: 'password-changed', pool: pool.kind, to: user.activeEmail } as const
    return this.#deps.authEmails.send(tx, site, email, origin)
  }
}

const alreadySet = (): AppError =>
  new AppError('PasswordAlreadySet', 'The account has a password: change it instead')
