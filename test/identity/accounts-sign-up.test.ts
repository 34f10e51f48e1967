import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { openQueue } from '#platform/queue/postgres-queue.ts'
import { AccountsDesk, BETTER, GOOD, STRANGER, codeIn, from, wrong } from '#test/accounts-desk.ts'
import { deadLetters } from '#test/dead-letters.ts'
import { silentLog } from '#test/silent-log.ts'

const INVALID = { code: 'InvalidVerificationCode' }
const AN_HOUR = 3600
let desk: AccountsDesk
beforeAll(async () => {
  desk = await AccountsDesk.open()
})
// What one test has counted is forgotten before the next.
afterEach(() => desk.forwardSeconds(AN_HOUR))
afterAll(() => desk[Symbol.asyncDispose]())

const rows = (table: 'pending_sign_up' | 'pool_user', email: string) =>
  desk.replica.database.withSite(desk.site.siteId, (tx) =>
    tx.db.selectFrom(table).selectAll().where('email', '=', email).execute(),
  )

describe('a sign-up', () => {
  test('is no account before its code comes back, and one afterwards', async () => {
    const { registrationId, sub, email } = await desk.signUp(' Ann@X.org ')
    expect(email).toBe('ann@x.org')
    expect(await rows('pool_user', email)).toEqual([])
    expect(await desk.signIn(email)).toEqual({ kind: 'unconfirmed', registrationId })
    expect(await desk.confirm(email, await desk.code(email), registrationId)).toEqual({ sub })
    expect(await rows('pool_user', email)).toMatchObject([
      { sub, email_verified: true, status: 'ACTIVE', origin: 'sign-up', role: null },
    ])
    expect(await rows('pending_sign_up', email)).toEqual([])
    expect(await desk.signIn('ANN@x.org')).toMatchObject({ kind: 'signed-in', user: { sub } })
    expect(await desk.events('sign-up.confirmed')).toMatchObject([{ email, sub, pool: 'data' }])
  })

  test('stores neither code nor password', async () => {
    const { email } = await desk.signUp('secret@x.org')
    const code = await desk.code(email)
    const [row] = await rows('pending_sign_up', email)
    const text = JSON.stringify(row)
    expect(row).toMatchObject({ code_hash: expect.any(Buffer), password_hash: expect.any(String) })
    expect(text).not.toContain(code)
    expect(text).not.toContain(GOOD)
  })

  test.each([
    ['an address that is none', 'ann', GOOD, 'ValidationError'],
    ['an address with a line break', 'ann\n@x.org', GOOD, 'ValidationError'],
    ['an address with NUL', 'ann\0@x.org', GOOD, 'ValidationError'],
    ['half a character in the address', 'ann\ud800@x.org', GOOD, 'ValidationError'],
    ['an address that is too long', `${'a'.repeat(250)}@x.org`, GOOD, 'ValidationError'],
    ['a short password', 'b@x.org', 'Tr4v-l', 'InvalidPassword'],
    ['a common password', 'b@x.org', 'P@ssw0rd1!', 'InvalidPassword'],
  ])('is refused with %s', async (_what, email, password, code) => {
    await expect(desk.signUp(email, password)).rejects.toMatchObject({ code })
    const shown = email.replaceAll('\0', '')
    expect(await rows('pending_sign_up', shown)).toEqual([])
  })

  test('is refused where strangers may not sign up', async () => {
    const admin = await desk.adminPool()
    const credentials = { email: 'eve@x.org', password: GOOD }
    const { accounts, site } = desk
    const code = 'SignUpDisabled'
    await expect(
      accounts.signUps.signUp({ site, pool: admin, origin: from() }, credentials),
    ).rejects.toMatchObject({
      code,
    })
    const confirmation = { email: 'eve@x.org', code: '000000' }
    await expect(
      accounts.signUps.confirm({ site, pool: admin, origin: from() }, confirmation),
    ).rejects.toMatchObject({
      code,
    })
    // Otherwise strangers could have admins notified that they have an account.
    const again = { email: `ann@${site.domain}` }
    await expect(
      accounts.signUps.resend({ site, pool: admin, origin: from() }, again),
    ).rejects.toMatchObject({
      code,
    })
  })

  test('with the address of an account changes nothing, and only its owner is notified', async () => {
    const sub = await desk.account('taken@x.org')
    const before = await rows('pool_user', 'taken@x.org')
    const again = await desk.signUp('taken@x.org', BETTER, STRANGER)
    expect(again.sub).not.toBe(sub)
    const mail = await desk.mailTo('taken@x.org')
    expect(mail.map(({ kind }) => kind)).toEqual(['verification', 'account-exists'])
    for (const code of ['000000', codeIn(mail[0])]) {
      await expect(desk.confirm('taken@x.org', code, again.registrationId)).rejects.toMatchObject(
        INVALID,
      )
    }
    expect(await rows('pool_user', 'taken@x.org')).toEqual(before)
    await expect(desk.signIn('taken@x.org', BETTER)).rejects.toMatchObject({
      code: 'InvalidCredentials',
    })
  })
})

describe('a stranger who signs up with the address of another', () => {
  test.each(['before', 'after'] as const)(
    '%s the owner cannot squat it: the owner’s own code makes the owner’s account',
    async (when) => {
      const email = `squat-${when}@x.org`
      if (when === 'before') {
        await desk.signUp(email, BETTER, STRANGER)
        // Two mails that wait at once leave in any order, and the newest is read below.
        await desk.settled()
      }
      const own = await desk.signUp(email, GOOD)
      const code = await desk.code(email)
      if (when === 'after') await desk.signUp(email, BETTER, STRANGER)
      expect(await desk.confirm(email, code, own.registrationId)).toEqual({ sub: own.sub })
      expect(await desk.signIn(email, GOOD)).toMatchObject({ kind: 'signed-in' })
      await expect(desk.signIn(email, BETTER)).rejects.toMatchObject({ code: 'InvalidCredentials' })
    },
  )

  test.each(['before', 'after'] as const)(
    '%s the owner cannot have the owner confirm it: the code of one is not that of the other',
    async (when) => {
      const email = `hijack-${when}@x.org`
      const signUps = [() => desk.signUp(email, BETTER, STRANGER), () => desk.signUp(email, GOOD)]
      const codes: string[] = []
      const made = []
      for (const signUp of when === 'before' ? signUps : signUps.toReversed()) {
        made.push(await signUp())
        codes.push(await desk.code(email))
      }
      const [theirs, own] = when === 'before' ? [0, 1] : [1, 0]
      const [strange = '', mine = ''] = [codes[theirs], codes[own]]
      // The owner enters the code of the stranger's mail.
      await expect(desk.confirm(email, strange, made[own]?.registrationId)).rejects.toMatchObject(
        INVALID,
      )
      // The stranger, who knows their own registration, cannot use the owner's code.
      await expect(
        desk.confirm(email, mine, made[theirs]?.registrationId, STRANGER),
      ).rejects.toMatchObject(INVALID)
      expect(await rows('pool_user', email)).toEqual([])
      expect(await desk.confirm(email, mine, made[own]?.registrationId)).toEqual({
        sub: made[own]?.sub,
      })
    },
  )

  test.each(['before', 'after'] as const)(
    '%s the owner is not confirmed by a client that sends the code alone',
    async (when) => {
      const email = `alone-${when}@x.org`
      const order = when === 'before' ? ['stranger', 'owner'] : ['owner', 'stranger']
      const codes: Record<string, string> = {}
      const subs: Record<string, string> = {}
      for (const who of order) {
        const origin = who === 'owner' ? from() : STRANGER
        const { sub } = await desk.signUp(email, who === 'owner' ? GOOD : BETTER, origin)
        subs[who] = sub
        codes[who] = await desk.code(email)
      }
      await expect(desk.confirm(email, codes['stranger'] ?? '')).rejects.toMatchObject(INVALID)
      expect(await desk.confirm(email, codes['owner'] ?? '')).toEqual({ sub: subs['owner'] })
      expect(await desk.signIn(email, GOOD)).toMatchObject({ kind: 'signed-in' })
    },
  )

  test('cannot be confirmed once the owner has the account, even with the code', async () => {
    const email = 'too-late@x.org'
    const theirs = await desk.signUp(email, BETTER, STRANGER)
    const code = await desk.code(email)
    const own = await desk.signUp(email, GOOD)
    await desk.confirm(email, await desk.code(email), own.registrationId)
    for (const origin of [from(), STRANGER]) {
      await expect(desk.confirm(email, code, theirs.registrationId, origin)).rejects.toMatchObject(
        INVALID,
      )
    }
    expect(await rows('pool_user', email)).toMatchObject([{ sub: own.sub }])
    expect(await desk.signIn(email, GOOD)).toMatchObject({ kind: 'signed-in' })
  })

  test('does not learn by signing in whether there is an account, nor when there is one', async () => {
    const [owned, free] = ['owned@x.org', 'free@x.org']
    await desk.account(owned)
    const seenBy = async (password: string) => {
      const seen = []
      for (const email of [owned, free]) {
        seen.push(
          await desk.signIn(email, password, STRANGER).then(
            ({ kind }) => kind,
            ({ code }) => code,
          ),
        )
      }
      return seen
    }
    for (const email of [owned, free]) await desk.signUp(email, BETTER, STRANGER)
    await desk.settled()
    expect(await seenBy(BETTER)).toEqual(['unconfirmed', 'unconfirmed'])
    expect(await seenBy('Tr4vel-wrong')).toEqual(['InvalidCredentials', 'InvalidCredentials'])
    // Knowing a sign-up's password is no way around the limit on guesses at the account's.
    for (let count = 2; count < 5; count += 1) await seenBy(BETTER)
    expect(await seenBy('Tr4vel-wrong')).toEqual(['TooManyRequests', 'TooManyRequests'])

    desk.forwardSeconds(AN_HOUR)
    const own = await desk.signUp(free, GOOD)
    await desk.confirm(free, await desk.code(free), own.registrationId)
    expect(await seenBy(BETTER)).toEqual(['unconfirmed', 'unconfirmed'])

    const { accounts, site, pool } = desk
    desk.forwardSeconds(20 * AN_HOUR)
    for (const email of [owned, 'later@x.org']) await desk.signUp(email, BETTER, STRANGER)
    desk.forwardSeconds(20 * AN_HOUR)
    for (const email of [owned, 'later@x.org']) {
      await accounts.signUps.resend({ site, pool, origin: STRANGER }, { email })
    }
    await desk.settled()
    desk.forwardSeconds(20 * AN_HOUR)
    for (const email of [owned, 'later@x.org']) {
      expect(await desk.signIn(email, BETTER, STRANGER)).toMatchObject({ kind: 'unconfirmed' })
    }
    desk.forwardSeconds(20 * AN_HOUR)
    for (const email of [owned, 'later@x.org']) {
      await expect(desk.signIn(email, BETTER, STRANGER)).rejects.toMatchObject({
        code: 'InvalidCredentials',
      })
    }
  })

  test('does not keep the owner, who has given the password, from the page of the code', async () => {
    const email = 'page@x.org'
    const own = await desk.signUp(email, GOOD)
    await desk.signUp(email, BETTER, STRANGER)
    expect(await desk.signIn(email, GOOD)).toEqual({
      kind: 'unconfirmed',
      registrationId: own.registrationId,
    })
  })

  test('cannot use up the owner’s mails, nor have the owner flooded from one place', async () => {
    const email = 'flood@x.org'
    for (let count = 0; count < 5; count += 1) await desk.signUp(email, BETTER, STRANGER)
    await expect(desk.signUp(email, BETTER, STRANGER)).rejects.toMatchObject({
      code: 'TooManyRequests',
      retryAfterSeconds: 3600,
    })
    await desk.signUp(email, GOOD)
    expect(await desk.mailTo(email)).toHaveLength(6)
  })
})

describe('many sign-ups', () => {
  test('cannot flood a mailbox under addresses that are all one, from wherever they come', async () => {
    const signUp = (count: number) =>
      desk.signUp(`flooded+${count}@x.org`, GOOD, from(`203.0.113.${count}`))
    for (let count = 0; count < 20; count += 1) await signUp(count)
    await expect(signUp(20)).rejects.toMatchObject({ code: 'TooManyRequests' })
    await expect(desk.signUp('flooded@x.org')).rejects.toMatchObject({ code: 'TooManyRequests' })
    expect(await desk.signUp('flooded@y.org')).toMatchObject({ email: 'flooded@y.org' })
  })
})

describe('the code of a sign-up', () => {
  test('is dead after five wrong ones, the right one too; a new one is not', async () => {
    const email = 'five@x.org'
    const { registrationId, sub } = await desk.signUp(email)
    const code = await desk.code(email)
    for (let count = 1; count <= 5; count += 1) {
      await expect(desk.confirm(email, wrong(code, count), registrationId)).rejects.toMatchObject(
        INVALID,
      )
    }
    await expect(desk.confirm(email, code, registrationId)).rejects.toMatchObject(INVALID)
    expect(await desk.events('code.failed')).not.toEqual([])
    await desk.accounts.signUps.resend(
      { site: desk.site, pool: desk.pool, origin: from() },
      { email, registrationId },
    )
    const newCode = await desk.code(email)
    expect(await desk.confirm(email, newCode, registrationId)).toEqual({ sub })
  })

  test('is dead after a day', async () => {
    const [early, late] = [await desk.signUp('early@x.org'), await desk.signUp('late@x.org')]
    const codes = [await desk.code('early@x.org'), await desk.code('late@x.org')]
    desk.forwardSeconds(24 * AN_HOUR - 1)
    expect(await desk.confirm(early.email, codes[0] ?? '', early.registrationId)).toBeDefined()
    desk.forwardSeconds(1)
    await expect(
      desk.confirm(late.email, codes[1] ?? '', late.registrationId),
    ).rejects.toMatchObject(INVALID)
    await expect(desk.signIn(late.email)).rejects.toMatchObject({ code: 'InvalidCredentials' })
  })

  test('is dead when a new one was asked for', async () => {
    const email = 'newer@x.org'
    const { registrationId, sub } = await desk.signUp(email)
    const old = await desk.code(email)
    await desk.accounts.signUps.resend(
      { site: desk.site, pool: desk.pool, origin: from() },
      { email },
    )
    const code = await desk.code(email)
    await expect(desk.confirm(email, old, registrationId)).rejects.toMatchObject(INVALID)
    expect(await desk.confirm(email, code, registrationId)).toEqual({ sub })
  })

  test('is good once', async () => {
    const email = 'once@x.org'
    const { registrationId } = await desk.signUp(email)
    const code = await desk.code(email)
    await desk.confirm(email, code, registrationId)
    await expect(desk.confirm(email, code, registrationId)).rejects.toMatchObject(INVALID)
  })

  test('makes one account when ten confirm at once', async () => {
    const email = 'ten@x.org'
    const { registrationId, sub } = await desk.signUp(email)
    const code = await desk.code(email)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => desk.confirm(email, code, registrationId)),
    )
    const won = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(won).toEqual([{ status: 'fulfilled', value: { sub } }])
    expect(await rows('pool_user', email)).toHaveLength(1)
  })

  test('makes one account when two sign-ups are confirmed at once', async () => {
    const email = 'two@x.org'
    const one = await desk.signUp(email, GOOD)
    const codeOne = await desk.code(email)
    const two = await desk.signUp(email, BETTER, STRANGER)
    const codeTwo = await desk.code(email)
    const outcomes = await Promise.allSettled([
      desk.confirm(email, codeOne, one.registrationId),
      desk.confirm(email, codeTwo, two.registrationId, STRANGER),
    ])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const [user] = await rows('pool_user', email)
    const ownerWon = outcomes[0].status === 'fulfilled'
    expect(user).toMatchObject({ sub: ownerWon ? one.sub : two.sub })
  })

  test('may be typed with spaces, and nothing else', async () => {
    const email = 'spaces@x.org'
    const { registrationId, sub } = await desk.signUp(email)
    const code = await desk.code(email)
    for (const typed of [`${code}0`, `0${code}`, `${code}-`, '', `${code}\u0000`]) {
      await expect(desk.confirm(email, typed, registrationId)).rejects.toMatchObject(INVALID)
    }
    await desk.accounts.signUps.resend(
      { site: desk.site, pool: desk.pool, origin: from() },
      { email, registrationId },
    )
    const good = await desk.code(email)
    const spaced = ` ${good.slice(0, 3)} ${good.slice(3)} `
    expect(await desk.confirm(email, spaced, registrationId)).toEqual({ sub })
  })

  test('with the password picks the sign-up of that password', async () => {
    const email = 'picks@x.org'
    const { sub } = await desk.signUp(email, GOOD)
    const code = await desk.code(email)
    await desk.signUp(email, BETTER, STRANGER)
    const confirmation = { email, code, password: BETTER }
    const elsewhere = from('203.0.113.9')
    const { accounts, site, pool } = desk
    await expect(
      accounts.signUps.confirm({ site, pool, origin: elsewhere }, confirmation),
    ).rejects.toMatchObject(INVALID)
    const right = { ...confirmation, password: GOOD }
    expect(await accounts.signUps.confirm({ site, pool, origin: elsewhere }, right)).toEqual({
      sub,
    })
  })

  test('of another site is wrong', async () => {
    const { site } = await desk.cluster.createSite(desk.replica, 'two.test')
    const { userPoolId } = await desk.replica.pools.discovery(site)
    const pool = await desk.replica.pools.byId(site, userPoolId)
    const { email, registrationId } = await desk.signUp('sites@x.org')
    const confirmation = { email, registrationId, code: await desk.code(email) }
    await expect(
      desk.accounts.signUps.confirm({ site, pool, origin: from() }, confirmation),
    ).rejects.toMatchObject(INVALID)
    expect(await desk.confirm(email, confirmation.code, registrationId)).toBeDefined()
  })
})

describe('the mail of a sign-up', () => {
  test('is sent once though its job runs twice, as after a crash', async () => {
    const { site, pool, replica } = desk
    const { email, registrationId, sub } = await desk.signUp('twice@x.org')
    const code = await desk.code(email)
    await using queue = await openQueue({ ...replica, log: silentLog })
    const job = { siteId: site.siteId, userPoolId: pool.userPoolId, email, registrationId }
    await replica.database.withSite(site.siteId, (tx) =>
      queue.enqueue(tx, 'account-mail', { ...job, ask: 'sign-up' }),
    )
    expect(await desk.mailTo(email)).toHaveLength(1)
    expect(await desk.confirm(email, code, registrationId)).toEqual({ sub })
  })

  test('is not sent for a site or pool that is gone', async () => {
    const { site, replica } = desk
    await using queue = await openQueue({ ...replica, log: silentLog })
    const ask = { email: 'gone@x.org', ask: 'reset' } as const
    await replica.database.withSite(site.siteId, async (tx) => {
      await queue.enqueue(tx, 'account-mail', { ...ask, siteId: 'site_gone', userPoolId: 'x' })
      await queue.enqueue(tx, 'account-mail', { ...ask, siteId: site.siteId, userPoolId: 'x' })
    })
    expect(await desk.mailTo('gone@x.org')).toEqual([])
    expect(await deadLetters(replica.sql, 'account-mail')).toEqual([])
  })
})

describe('asking for another code', () => {
  test('of an unknown address mails nothing, and of an account’s owner says that there is an account', async () => {
    const { accounts, site, pool } = desk
    await desk.account('owner@x.org')
    for (const email of ['nobody@x.org', 'owner@x.org']) {
      expect(
        await accounts.signUps.resend({ site, pool, origin: from() }, { email }),
      ).toBeUndefined()
    }
    expect(await desk.mailTo('nobody@x.org')).toEqual([])
    const kinds = (await desk.mailTo('owner@x.org')).map(({ kind }) => kind)
    expect(kinds).toEqual(['verification', 'account-exists'])
  })

  test('never mails a sign-up’s code to another address', async () => {
    const { registrationId } = await desk.signUp('right@x.org')
    const request = { email: 'elsewhere@x.org', registrationId }
    await desk.accounts.signUps.resend(
      { site: desk.site, pool: desk.pool, origin: STRANGER },
      request,
    )
    expect(await desk.mailTo('elsewhere@x.org')).toEqual([])
    expect(await desk.mailTo('right@x.org')).toHaveLength(1)
  })
})
