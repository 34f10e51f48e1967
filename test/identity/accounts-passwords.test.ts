import { hash as argon2 } from '@node-rs/argon2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import type { AuthChange } from '#identity/pools/auth-change.ts'
import { AccountsDesk, BETTER, GOOD, from } from '#test/accounts-desk.ts'

const THIRD = 'Tr4vel-lightest'
let desk: AccountsDesk
/** What the installation's own list knows beside nothing. */
const leaked = new Set(['Leaked-p4ssage'])
beforeAll(async () => {
  desk = await AccountsDesk.open({
    deps: { breachedPasswords: { has: async (password) => leaked.has(password) } },
  })
})
afterEach(() => desk.forwardSeconds(3600))
afterAll(() => desk[Symbol.asyncDispose]())

const change = (sub: string, oldPassword: string, newPassword: string, keep?: string) =>
  desk.accounts.ownPasswords.change(
    { site: desk.site, pool: desk.pool, origin: from() },
    { sub, oldPassword, newPassword, ...(keep && { keep: { sessionId: keep } }) },
  )

const add = (sub: string, password: string) =>
  desk.accounts.ownPasswords.add(
    { site: desk.site, pool: desk.pool, origin: from() },
    { sub, password },
  )

const visitor = async (email: string): Promise<string> =>
  (await desk.replica.users.ensureVisitor(desk.site, desk.pool, email)).sub

/** The pool as it is after a change of its settings. */
const settled = async (settings: AuthChange, kind: 'data' | 'admin' = 'data') => {
  const { authSettings, pools } = desk.replica
  await authSettings.change(desk.site, settings, from())
  const { userPoolId } = await pools.discovery(desk.site)
  const { auth } = await pools.bootstrap(desk.site)
  return pools.byId(desk.site, kind === 'data' ? userPoolId : auth.userPoolId)
}

describe('changing a password', () => {
  test('takes the old one, ends every sign-in and tells the owner', async () => {
    const sub = await desk.account('ann@x.org')
    await change(sub, GOOD, BETTER)
    expect(await desk.signIn('ann@x.org', BETTER)).toMatchObject({ user: { sub } })
    await expect(desk.signIn('ann@x.org', GOOD)).rejects.toMatchObject({
      code: 'InvalidCredentials',
    })
    expect(await desk.mailTo('ann@x.org', 'password-changed')).toHaveLength(1)
    expect(await desk.events('password.changed')).toMatchObject([{ sub, email: 'ann@x.org' }])
    expect(await desk.events('sessions.revoked')).toMatchObject([{ sub }])
  })

  test('keeps the session that asks for it', async () => {
    const sub = await desk.account('keeps@x.org')
    const { site, pool, replica } = desk
    const started = await replica.database.withSite(site.siteId, async (tx) => {
      const start = { sub, method: 'password', authTime: desk.cluster.clock.now() } as const
      return [
        await replica.sessions.start(tx, pool, start, from()),
        await replica.sessions.start(tx, pool, start, from()),
      ]
    })
    await change(sub, GOOD, BETTER, started[0]?.sessionId)
    const left = await replica.sessions.list(site, pool, sub)
    expect(left.map(({ sessionId }) => sessionId)).toEqual([started[0]?.sessionId])
  })

  test('ends a reset that was requested', async () => {
    const sub = await desk.account('asked@x.org')
    await desk.forgot('asked@x.org')
    const code = await desk.code('asked@x.org')
    await change(sub, GOOD, BETTER)
    await expect(desk.reset('asked@x.org', code, THIRD)).rejects.toMatchObject({
      code: 'InvalidVerificationCode',
    })
    expect(await desk.signIn('asked@x.org', BETTER)).toMatchObject({ user: { sub } })
  })

  test('is refused with a wrong old one, and after five of them for a while', async () => {
    const sub = await desk.account('guessed@x.org')
    for (let count = 0; count < 5; count += 1) {
      await expect(change(sub, BETTER, THIRD)).rejects.toMatchObject({
        code: 'InvalidCredentials',
        message: 'The current password is wrong',
      })
    }
    await expect(change(sub, GOOD, THIRD)).rejects.toMatchObject({ code: 'TooManyRequests' })
    // A stolen session gives no second account to guess at.
    await expect(desk.signIn('guessed@x.org')).rejects.toMatchObject({ code: 'TooManyRequests' })
  })

  test('is refused with a new one that the policy does not take', async () => {
    const sub = await desk.account('weak@x.org')
    await expect(change(sub, GOOD, 'weak')).rejects.toMatchObject({ code: 'InvalidPassword' })
    expect(await desk.signIn('weak@x.org')).toBeDefined()
  })

  test('is done once when two do it at once', async () => {
    const sub = await desk.account('race@x.org')
    const outcomes = await Promise.allSettled([change(sub, GOOD, BETTER), change(sub, GOOD, THIRD)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const won = outcomes[0].status === 'fulfilled' ? BETTER : THIRD
    expect(await desk.signIn('race@x.org', won)).toMatchObject({ user: { sub } })
  })

  test('of an account that is gone is 404', async () => {
    await expect(change('gone', GOOD, BETTER)).rejects.toMatchObject({ code: 'UserNotFound' })
  })
})

describe('adding a password', () => {
  test('to an account that has none lets its owner sign in with it', async () => {
    const sub = await visitor('none@x.org')
    expect(await desk.accounts.ownPasswords.has(desk.site, desk.pool, sub)).toBe(false)
    await add(sub, GOOD)
    expect(await desk.accounts.ownPasswords.has(desk.site, desk.pool, sub)).toBe(true)
    expect(await desk.signIn('none@x.org')).toMatchObject({ user: { sub } })
    expect(await desk.mailTo('none@x.org', 'password-changed')).toHaveLength(1)
    expect(await desk.events('password.added')).toMatchObject([{ sub }])
  })

  test('to an account that has one is refused, and the one that it has stays', async () => {
    const sub = await desk.account('has@x.org')
    await expect(add(sub, BETTER)).rejects.toMatchObject({ code: 'PasswordAlreadySet' })
    expect(await desk.signIn('has@x.org')).toBeDefined()
  })

  test('is done once when five do it at once', async () => {
    const sub = await visitor('five@x.org')
    const passwords = Array.from({ length: 5 }, (_, index) => `Tr4vel-light-${index}`)
    const outcomes = await Promise.allSettled(passwords.map((password) => add(sub, password)))
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await desk.signIn('five@x.org', passwords[won])).toMatchObject({ user: { sub } })
  })
})

describe('the policy', () => {
  test('is that of the pool, at once, and reports each fault', async () => {
    const pool = await settled({
      data: { passwordPolicy: { minimumLength: 12, requireSymbols: false } },
    })
    const signUp = (password: string) =>
      desk.accounts.signUps.signUp(
        { site: desk.site, pool, origin: from() },
        { email: 'policy@x.org', password },
      )
    await expect(signUp('short-9')).rejects.toMatchObject({
      code: 'InvalidPassword',
      message: 'The password must have at least 12 characters',
      details: [
        { field: 'password', message: 'must have at least 12 characters' },
        { field: 'password', message: 'must have an uppercase letter' },
      ],
    })
    expect(await signUp('Travelling4light')).toMatchObject({ email: 'policy@x.org' })
    const admin = await desk.adminPool()
    expect(admin.settings.passwordPolicy).toMatchObject({ minimumLength: 8, requireSymbols: true })
    await settled({ data: { passwordPolicy: { minimumLength: 8, requireSymbols: true } } })
  })

  test('refuses what the installation knows to be breached', async () => {
    await expect(desk.signUp('leaked@x.org', 'Leaked-p4ssage')).rejects.toMatchObject({
      code: 'InvalidPassword',
      details: [{ field: 'password', message: 'is one of the passwords that attackers try first' }],
    })
  })

  test('does not look at a password at sign-in', async () => {
    await desk.account('before@x.org')
    const pool = await settled({ data: { passwordPolicy: { minimumLength: 100 } } })
    const credentials = { email: 'before@x.org', password: GOOD }
    expect(
      await desk.accounts.passwordSignIns.authenticate(
        { site: desk.site, pool, origin: from() },
        credentials,
      ),
    ).toMatchObject({
      kind: 'signed-in',
    })
    await settled({ data: { passwordPolicy: { minimumLength: 8 } } })
  })
})

describe('what is stored of a password', () => {
  const stored = (sub: string) =>
    desk.replica.database.withSite(desk.site.siteId, (tx) =>
      tx.db
        .selectFrom('user_password')
        .select(['hash', 'sealed_srp as sealedSrp'])
        .where('sub', '=', sub)
        .executeTakeFirstOrThrow(),
    )

  test('is rehashed at sign-in when it was made at another cost', async () => {
    const sub = await desk.account('old@x.org')
    const { hash } = await stored(sub)
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const secret = desk.cluster.sealer.derive('passwords')
    const old = await argon2(GOOD, { memoryCost: 8192, timeCost: 1, secret })
    await desk.replica.database.withSite(desk.site.siteId, (tx) =>
      tx.db.updateTable('user_password').set({ hash: old }).where('sub', '=', sub).execute(),
    )
    expect(await desk.signIn('old@x.org')).toMatchObject({ user: { sub } })
    expect((await stored(sub)).hash).toMatch(/m=19456,t=2,p=1/)
    expect(await desk.signIn('old@x.org')).toMatchObject({ user: { sub } })
  })

  test('has a verifier only where a client needs it, added at the next sign-in, and sealed', async () => {
    const sub = await desk.account('srp@x.org')
    expect((await stored(sub)).sealedSrp).toBeNull()
    const pool = await settled({ data: { clients: { default: { cognitoApi: true } } } })
    const credentials = { email: 'srp@x.org', password: GOOD }
    await desk.accounts.passwordSignIns.authenticate(
      { site: desk.site, pool, origin: from() },
      credentials,
    )
    const { sealedSrp } = await stored(sub)
    expect(sealedSrp).toBeInstanceOf(Buffer)
    const { database, passwords } = desk.replica
    const verifier = await database.withSite(desk.site.siteId, (tx) =>
      passwords.srpVerifier(tx, pool, sub),
    )
    expect(verifier?.verifier.length).toBeGreaterThan(100)
    expect(sealedSrp?.includes(verifier?.verifier ?? '')).toBe(false)
    await desk.accounts.passwordSignIns.authenticate(
      { site: desk.site, pool, origin: from() },
      credentials,
    )
    expect((await stored(sub)).sealedSrp).toEqual(sealedSrp)
    await settled({ data: { clients: { default: { cognitoApi: false } } } })
  })

  test('follows a sign-up with its verifier', async () => {
    const pool = await settled({ data: { clients: { default: { cognitoApi: true } } } })
    const { accounts, site } = desk
    const credentials = { email: 'srp-new@x.org', password: GOOD }
    const { registrationId, sub } = await accounts.signUps.signUp(
      { site, pool, origin: from() },
      credentials,
    )
    const code = await desk.code('srp-new@x.org')
    await accounts.signUps.confirm(
      { site, pool, origin: from() },
      { email: 'srp-new@x.org', code, registrationId },
    )
    const { database, passwords } = desk.replica
    const verifier = await database.withSite(site.siteId, (tx) =>
      passwords.srpVerifier(tx, pool, sub),
    )
    expect(verifier?.salt.length).toBeGreaterThan(0)
    await settled({ data: { clients: { default: { cognitoApi: false } } } })
  })
})
