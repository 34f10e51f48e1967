import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { AccountsDesk, BETTER, GOOD, STRANGER, codeIn, from, wrong } from '#test/accounts-desk.ts'

const INVALID = { code: 'InvalidVerificationCode' }
const AN_HOUR = 3600
let desk: AccountsDesk
beforeAll(async () => {
  desk = await AccountsDesk.open()
})
afterEach(() => desk.forwardSeconds(2 * AN_HOUR))
afterAll(() => desk[Symbol.asyncDispose]())

const asked = async (email: string): Promise<string> => {
  await desk.forgot(email)
  return codeIn((await desk.mailTo(email.toLowerCase(), 'reset')).at(-1))
}

const validAfter = async (sub: string) => {
  const user = await desk.replica.database.withSite(desk.site.siteId, (tx) =>
    tx.db
      .selectFrom('pool_user')
      .select(['tokens_valid_after as moment', 'email_verified as verified'])
      .where('sub', '=', sub)
      .executeTakeFirstOrThrow(),
  )
  return { ms: user.moment.getTime(), verified: user.verified }
}

describe('a forgotten password', () => {
  test('is replaced against the mailed code, and every sign-in ends', async () => {
    const sub = await desk.account('ann@x.org')
    const code = await asked('Ann@X.org')
    await desk.reset('ANN@x.org', code)
    await expect(desk.signIn('ann@x.org', GOOD)).rejects.toMatchObject({
      code: 'InvalidCredentials',
    })
    expect(await desk.signIn('ann@x.org', BETTER)).toMatchObject({ user: { sub } })
    expect((await validAfter(sub)).ms).toBe(desk.cluster.clock.now().getTime())
    const kinds = (await desk.mailTo('ann@x.org')).map(({ kind }) => kind)
    expect(kinds).toEqual(['verification', 'reset', 'password-changed'])
    expect(await desk.events('password.reset')).toMatchObject([{ email: 'ann@x.org', sub }])
    expect(await desk.events('sessions.revoked')).toMatchObject([{ sub }])
  })

  test('needs a new one that the policy takes, and costs no try before', async () => {
    await desk.account('policy@x.org')
    const code = await asked('policy@x.org')
    for (let count = 0; count < 6; count += 1) {
      await expect(desk.reset('policy@x.org', code, 'short')).rejects.toMatchObject({
        code: 'InvalidPassword',
        details: expect.arrayContaining([
          expect.objectContaining({ message: 'must have at least 8 characters' }),
        ]),
      })
    }
    await desk.reset('policy@x.org', code)
    expect(await desk.signIn('policy@x.org', BETTER)).toMatchObject({ kind: 'signed-in' })
  })

  test('is no way to take up an invitation', async () => {
    const site = desk.site
    const admin = await desk.adminPool()
    const email = `ann@${site.domain}`
    await desk.accounts.passwordResets.request({ site, pool: admin, origin: from() }, email)
    expect(await desk.mailTo(email, 'reset')).toEqual([])
  })

  test('gives a password to an account that never had one', async () => {
    const user = await desk.replica.users.ensureVisitor(desk.site, desk.pool, 'made@x.org')
    expect(await desk.accounts.ownPasswords.has(desk.site, desk.pool, user.sub)).toBe(false)
    await desk.reset('made@x.org', await asked('made@x.org'))
    expect(await desk.signIn('made@x.org', BETTER)).toMatchObject({ user: { sub: user.sub } })
  })

  test('proves the address that the code went to', async () => {
    const sub = await desk.account('unproven@x.org')
    await desk.replica.database.withSite(desk.site.siteId, (tx) =>
      tx.db
        .updateTable('pool_user')
        .set({ email_verified: false })
        .where('sub', '=', sub)
        .execute(),
    )
    await desk.reset('unproven@x.org', await asked('unproven@x.org'))
    expect((await validAfter(sub)).verified).toBe(true)
  })

  test('lets the owner in when guesses of others had shut them out', async () => {
    await desk.account('shut@x.org')
    for (let count = 0; count < 5; count += 1) {
      await expect(desk.signIn('shut@x.org', BETTER)).rejects.toMatchObject({
        code: 'InvalidCredentials',
      })
    }
    await expect(desk.signIn('shut@x.org', GOOD)).rejects.toMatchObject({ code: 'TooManyRequests' })
    await desk.reset('shut@x.org', await asked('shut@x.org'))
    expect(await desk.signIn('shut@x.org', BETTER)).toMatchObject({ kind: 'signed-in' })
  })
})

describe('the code of a forgotten password', () => {
  test('is dead after five wrong ones, the right one too', async () => {
    await desk.account('five@x.org')
    const code = await asked('five@x.org')
    for (let count = 1; count <= 5; count += 1) {
      await expect(desk.reset('five@x.org', wrong(code, count))).rejects.toMatchObject(INVALID)
    }
    await expect(desk.reset('five@x.org', code)).rejects.toMatchObject(INVALID)
    expect(await desk.signIn('five@x.org', GOOD)).toMatchObject({ kind: 'signed-in' })
    await desk.reset('five@x.org', await asked('five@x.org'))
  })

  test('is dead after an hour', async () => {
    await desk.account('early@x.org')
    await desk.account('late@x.org')
    const [early, late] = [await asked('early@x.org'), await asked('late@x.org')]
    desk.forwardSeconds(AN_HOUR - 1)
    await desk.reset('early@x.org', early)
    desk.forwardSeconds(1)
    await expect(desk.reset('late@x.org', late)).rejects.toMatchObject(INVALID)
  })

  test('is good once', async () => {
    await desk.account('once@x.org')
    const code = await asked('once@x.org')
    await desk.reset('once@x.org', code)
    await expect(desk.reset('once@x.org', code, GOOD)).rejects.toMatchObject(INVALID)
    expect(await desk.signIn('once@x.org', BETTER)).toMatchObject({ kind: 'signed-in' })
  })

  test('is dead when a newer one was asked for', async () => {
    await desk.account('newer@x.org')
    const [old, code] = [await asked('newer@x.org'), await asked('newer@x.org')]
    await expect(desk.reset('newer@x.org', old)).rejects.toMatchObject(INVALID)
    await desk.reset('newer@x.org', code)
  })

  test('is given to one of ten who use it at once', async () => {
    const sub = await desk.account('race@x.org')
    const code = await asked('race@x.org')
    const passwords = Array.from({ length: 10 }, (_, index) => `Tr4vel-light-${index}`)
    const outcomes = await Promise.allSettled(
      passwords.map((password) => desk.reset('race@x.org', code, password)),
    )
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const signedIn = await desk.signIn('race@x.org', passwords[winner] ?? '')
    expect(signedIn).toMatchObject({ user: { sub } })
  })

  test('of one account is not that of another', async () => {
    await desk.account('mine@x.org')
    await desk.account('yours@x.org')
    const code = await asked('mine@x.org')
    await desk.forgot('yours@x.org')
    await desk.settled()
    await expect(desk.reset('yours@x.org', code)).rejects.toMatchObject(INVALID)
    await desk.reset('mine@x.org', code)
  })

  test('is not that of a sign-up', async () => {
    const { registrationId } = await desk.signUp('kinds@x.org')
    const code = await desk.code('kinds@x.org')
    await expect(desk.reset('kinds@x.org', code)).rejects.toMatchObject(INVALID)
    expect(await desk.confirm('kinds@x.org', code, registrationId)).toBeDefined()
  })

  test('dies with the address that it went to', async () => {
    const sub = await desk.account('old@x.org')
    const code = await asked('old@x.org')
    await desk.replica.database.withSite(desk.site.siteId, (tx) =>
      tx.db.updateTable('pool_user').set({ email: 'new@x.org' }).where('sub', '=', sub).execute(),
    )
    await expect(desk.reset('new@x.org', code)).rejects.toMatchObject(INVALID)
    await expect(desk.reset('old@x.org', code)).rejects.toMatchObject(INVALID)
    expect(await desk.signIn('new@x.org', GOOD)).toMatchObject({ user: { sub } })
  })

  test('is stored as a keyed hash', async () => {
    const sub = await desk.account('stored@x.org')
    const code = await asked('stored@x.org')
    const rows = await desk.replica.database.withSite(desk.site.siteId, (tx) =>
      tx.db.selectFrom('user_code').selectAll().where('sub', '=', sub).execute(),
    )
    expect(rows).toMatchObject([{ code_hash: expect.any(Buffer), tries: 0 }])
    expect(JSON.stringify(rows)).not.toContain(code)
  })

  test('goes to the address that the user chose for mail about the account', async () => {
    const { site, accounts } = desk
    const admin = await desk.adminPool()
    const email = `eve@${site.domain}`
    const sub = '6f1f6a0e-0000-4000-8000-000000000001'
    await desk.replica.database.withSite(site.siteId, (tx) =>
      tx.db
        .insertInto('pool_user')
        .values({
          site_id: site.siteId,
          user_pool_id: admin.userPoolId,
          sub,
          email,
          external_email: 'eve@elsewhere.org',
          active_address: 'external',
          role: 'admin',
          status: 'ACTIVE',
          origin: 'operator',
        })
        .execute(),
    )
    await accounts.passwordResets.request({ site, pool: admin, origin: from() }, email)
    expect(await desk.mailTo(email)).toEqual([])
    const code = codeIn((await desk.mailTo('eve@elsewhere.org', 'reset')).at(-1))
    await accounts.passwordResets.confirm(
      { site, pool: admin, origin: from() },
      { email, code, password: BETTER },
    )
    const credentials = { email, password: BETTER }
    expect(
      await accounts.passwordSignIns.authenticate(
        { site, pool: admin, origin: from() },
        credentials,
      ),
    ).toMatchObject({
      // The other address is the one that the code has proven.
      user: { sub, emailVerified: false },
    })
  })
})

describe('asking for a new password', () => {
  test('says the same to everyone, and mails only the owner of an account', async () => {
    await desk.account('known@x.org')
    await desk.signUp('waiting@x.org')
    for (const email of ['known@x.org', 'unknown@x.org', 'waiting@x.org', 'no address', '']) {
      expect(await desk.forgot(email)).toBeUndefined()
    }
    expect(await desk.mailTo('known@x.org', 'reset')).toHaveLength(1)
    const others = ['unknown@x.org', 'no address', '']
    for (const email of others) expect(await desk.mailTo(email)).toEqual([])
    expect(await desk.mailTo('waiting@x.org', 'reset')).toEqual([])
  })

  test('is allowed five times an hour, for an unknown address too', async () => {
    await desk.account('mailed@x.org')
    desk.forwardSeconds(AN_HOUR)
    for (const email of ['mailed@x.org', 'nobody@x.org']) {
      for (let count = 0; count < 5; count += 1) await desk.forgot(email)
      await expect(desk.forgot(email)).rejects.toMatchObject({
        code: 'TooManyRequests',
        retryAfterSeconds: AN_HOUR,
      })
    }
    expect(await desk.mailTo('mailed@x.org', 'reset')).toHaveLength(5)
    await desk.forgot('mailed@x.org', STRANGER)
    desk.forwardSeconds(AN_HOUR)
    await desk.forgot('mailed@x.org')
  })
})
