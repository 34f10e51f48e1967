import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { PasswordHasher } from '#identity/passwords/hasher.ts'
import { AccountsDesk, BETTER, GOOD, STRANGER, from } from '#test/accounts-desk.ts'
import { seen, statementsOf } from '#test/seen-statements.ts'

const REFUSED = {
  code: 'InvalidCredentials',
  message: 'The email address or the password is wrong',
}
let desk: AccountsDesk

const isBlocked = (outcome: unknown): outcome is { readonly retryAfterSeconds: number } =>
  outcome instanceof AppError && outcome.retryAfterSeconds !== undefined

const hashed = vi.spyOn(PasswordHasher.prototype, 'hash')
const verified = vi.spyOn(PasswordHasher.prototype, 'verify')

/** The work that one call does: statements in their order, and how often a password is hashed. */
async function workOf(call: () => Promise<unknown>) {
  await desk.settled()
  hashed.mockClear()
  verified.mockClear()
  const { outcome, statements } = await statementsOf(() =>
    call().then(
      () => 'done',
      (error: unknown) => error,
    ),
  )
  const hashes = hashed.mock.calls.length + verified.mock.calls.length
  return { outcome, work: statements, hashes }
}

beforeAll(async () => {
  desk = await AccountsDesk.open({ seenAs: seen })
  await desk.account('ann@x.org')
  await desk.replica.users.ensureVisitor(desk.site, desk.pool, 'without-password@x.org')
  await desk.signUp('waiting@x.org', BETTER, STRANGER)
})
beforeEach(() => desk.forwardSeconds(3600))
afterEach(() => desk.settled())
afterAll(() => desk[Symbol.asyncDispose]())

describe('a sign-in by password', () => {
  test('gives the account, in whatever case its address is typed', async () => {
    expect(await desk.signIn(' ANN@X.ORG ')).toMatchObject({
      kind: 'signed-in',
      user: { email: 'ann@x.org', emailVerified: true, status: 'ACTIVE' },
    })
  })

  test.each([
    ['a wrong password', 'ann@x.org', BETTER],
    ['an unknown address', 'nobody@x.org', GOOD],
    ['an account without a password', 'without-password@x.org', GOOD],
    ['the wrong password of an unconfirmed sign-up', 'waiting@x.org', GOOD],
    ['no password', 'ann@x.org', ''],
    ['a huge password', 'ann@x.org', 'x'.repeat(100_000)],
    ['a password with NUL', 'ann@x.org', `${GOOD}\0`],
    ['no address', '', GOOD],
    ['an address with NUL', 'ann@x.org\0', GOOD],
    ['an address with half a character', 'ann\ud800@x.org', GOOD],
    ['a huge address', `${'a'.repeat(100_000)}@x.org`, GOOD],
  ])('with %s is refused in one wording', async (_what, email, password) => {
    await expect(desk.signIn(email, password)).rejects.toMatchObject(REFUSED)
  })

  test('is refused to an invited user, in the same wording', async () => {
    const admin = await desk.adminPool()
    const credentials = { email: `ann@${desk.site.domain}`, password: GOOD }
    await expect(
      desk.accounts.passwordSignIns.authenticate(
        { site: desk.site, pool: admin, origin: from() },
        credentials,
      ),
    ).rejects.toMatchObject(REFUSED)
  })

  test('with an account of the other pool, or of another site, is refused', async () => {
    const admin = await desk.adminPool()
    const credentials = { email: 'ann@x.org', password: GOOD }
    const { accounts, site } = desk
    await expect(
      accounts.passwordSignIns.authenticate({ site, pool: admin, origin: from() }, credentials),
    ).rejects.toMatchObject(REFUSED)
    const { site: two } = await desk.cluster.createSite(desk.replica, 'two.test')
    const { userPoolId } = await desk.replica.pools.discovery(two)
    const pool = await desk.replica.pools.byId(two, userPoolId)
    await expect(
      accounts.passwordSignIns.authenticate({ site: two, pool, origin: from() }, credentials),
    ).rejects.toMatchObject(REFUSED)
  })

  test('leaves a trace without the password', async () => {
    await expect(desk.signIn('ann@x.org', 'Tr4vel-secretly')).rejects.toMatchObject(REFUSED)
    const events = await desk.events('sign-in.failed')
    expect(events.at(-1)).toMatchObject({ pool: 'data', email: 'ann@x.org', address: '192.0.2.1' })
    expect(JSON.stringify(events)).not.toContain('Tr4vel')
  })
})

describe('the work that is done', () => {
  test('by a refused sign-in is the same for every address, with one hash', async () => {
    const known = await workOf(() => desk.signIn('ann@x.org', BETTER))
    expect(known).toMatchObject({ outcome: REFUSED, hashes: 1 })
    expect(known.work.length).toBeGreaterThan(3)
    for (const email of ['nobody@x.org', 'without-password@x.org', 'waiting@x.org', 'no address']) {
      expect(await workOf(() => desk.signIn(email, 'Tr4vel-wrong'))).toEqual(known)
    }
  })

  test('by a right sign-in is one hash too', async () => {
    expect(await workOf(() => desk.signIn('ann@x.org'))).toMatchObject({
      outcome: 'done',
      hashes: 1,
    })
  })

  test('by the sign-in after a sign-up is the same whether the address has an account or not', async () => {
    const ask = (email: string, password: string) =>
      workOf(() => desk.signIn(email, password, STRANGER))
    await desk.signUp('ann@x.org', BETTER, STRANGER)
    const [known, wrong] = [await ask('ann@x.org', BETTER), await ask('ann@x.org', 'Tr4vel-wrong')]
    expect(known).toMatchObject({ outcome: 'done', hashes: 2 })
    expect(wrong).toMatchObject({ outcome: REFUSED, hashes: 2 })
    expect(await ask('waiting@x.org', BETTER)).toEqual(known)
    expect(await ask('waiting@x.org', 'Tr4vel-wrong')).toEqual(wrong)
  })

  test('by a sign-up is the same whether the address has an account or not', async () => {
    const known = await workOf(() => desk.signUp('ann@x.org'))
    const unknown = await workOf(() => desk.signUp('fresh@x.org'))
    expect(known).toMatchObject({ outcome: 'done', hashes: 1 })
    expect(unknown).toEqual(known)
  })

  test('by asking for a new password or code is the same for every address', async () => {
    const { accounts, site, pool } = desk
    const resend = (email: string) =>
      accounts.signUps.resend({ site, pool, origin: from() }, { email })
    for (const ask of [(email: string) => desk.forgot(email), resend]) {
      const known = await workOf(() => ask('ann@x.org'))
      expect(known).toMatchObject({ outcome: 'done', hashes: 0 })
      for (const email of ['stranger@x.org', 'without-password@x.org', 'waiting@x.org']) {
        expect(await workOf(() => ask(email))).toEqual(known)
      }
    }
  })

  test('by a refused reset is the same whether there is an account, and a code, or not', async () => {
    await desk.forgot('ann@x.org')
    await desk.settled()
    const known = await workOf(() => desk.reset('ann@x.org', 'nodigits'))
    expect(known).toMatchObject({ outcome: { code: 'InvalidVerificationCode' }, hashes: 1 })
    for (const email of ['nobody@x.org', 'without-password@x.org', 'waiting@x.org']) {
      expect(await workOf(() => desk.reset(email, 'nodigits'))).toEqual(known)
    }
  })

  test('by a refused confirmation is the same with and without a sign-up', async () => {
    const known = await workOf(() => desk.confirm('waiting@x.org', 'nodigits'))
    expect(known).toMatchObject({ outcome: { code: 'InvalidVerificationCode' }, hashes: 0 })
    for (const email of ['ann@x.org', 'nobody@x.org']) {
      expect(await workOf(() => desk.confirm(email, 'nodigits'))).toEqual(known)
    }
    const { accounts, site, pool } = desk
    const withPassword = (email: string) =>
      accounts.signUps.confirm(
        { site, pool, origin: from() },
        { email, code: 'nodigits', password: GOOD },
      )
    const waiting = await workOf(() => withPassword('waiting@x.org'))
    expect(waiting).toMatchObject({ hashes: 1 })
    expect(await workOf(() => withPassword('nobody@x.org'))).toEqual(waiting)
  })
})

describe('guesses', () => {
  test('wait after five wrong ones, longer and longer, and nothing is hashed during the wait', async () => {
    const email = 'guessed@x.org'
    await desk.account(email)
    for (let count = 0; count < 5; count += 1) {
      await expect(desk.signIn(email, BETTER)).rejects.toMatchObject(REFUSED)
    }
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
      const turnedAway = await workOf(() => desk.signIn(email, GOOD))
      expect(turnedAway).toMatchObject({
        outcome: { code: 'TooManyRequests', retryAfterSeconds: seconds },
        hashes: 0,
      })
      desk.forwardSeconds(seconds)
      await expect(desk.signIn(email, BETTER)).rejects.toMatchObject(REFUSED)
    }
    desk.forwardSeconds(900)
    expect(await desk.signIn(email)).toMatchObject({ kind: 'signed-in' })
    for (let count = 0; count < 5; count += 1) {
      await expect(desk.signIn(email, BETTER)).rejects.toMatchObject(REFUSED)
    }
  })

  test('at an account that does not exist wait just as long', async () => {
    for (let count = 0; count < 5; count += 1) {
      await expect(desk.signIn('ghost@x.org')).rejects.toMatchObject(REFUSED)
    }
    await expect(desk.signIn('ghost@x.org')).rejects.toMatchObject({
      code: 'TooManyRequests',
      retryAfterSeconds: 1,
      message: 'Too many tries: try again in 1 second',
    })
  })

  test('made at once are no more than one after another', async () => {
    await desk.account('burst@x.org')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, () => desk.signIn('burst@x.org', BETTER)),
    )
    const codes = outcomes.map((each) => each.status === 'rejected' && each.reason.code)
    expect(codes.filter((code) => code === 'InvalidCredentials')).toHaveLength(5)
    expect(codes.filter((code) => code === 'TooManyRequests')).toHaveLength(35)
  })

  test('from elsewhere do not shut the owner out, until there are many', async () => {
    await desk.account('owner@x.org')
    for (let count = 0; count < 5; count += 1) {
      await expect(desk.signIn('owner@x.org', BETTER, STRANGER)).rejects.toMatchObject(REFUSED)
    }
    await expect(desk.signIn('owner@x.org', BETTER, STRANGER)).rejects.toMatchObject({
      code: 'TooManyRequests',
    })
    expect(await desk.signIn('owner@x.org')).toMatchObject({ kind: 'signed-in' })
    for (let network = 0; network < 20; network += 1) {
      const origin = from(`203.0.113.${network}`)
      await expect(desk.signIn('owner@x.org', BETTER, origin)).rejects.toMatchObject(REFUSED)
    }
    await expect(desk.signIn('owner@x.org', GOOD, from('203.0.113.99'))).rejects.toMatchObject({
      code: 'TooManyRequests',
    })
  })

  test('at many accounts from one /64 wait as well, and only there', async () => {
    for (let count = 0; count < 50; count += 1) {
      const origin = from(`2001:db8:0:1::${count.toString(16)}`)
      await expect(desk.signIn(`sprayed-${count}@x.org`, GOOD, origin)).rejects.toMatchObject(
        REFUSED,
      )
    }
    await expect(desk.signIn('ann@x.org', GOOD, from('2001:db8:0:1:f::1'))).rejects.toMatchObject({
      code: 'TooManyRequests',
    })
    const neighbour = from('2001:db8:0:2::1')
    expect(await desk.signIn('ann@x.org', GOOD, neighbour)).toMatchObject({ kind: 'signed-in' })
    const blocked = await desk.events('sign-in.blocked')
    expect(blocked.at(-1)).toMatchObject({ detail: { counted: 'address', waitSeconds: 1 } })
  })

  test('of an account’s owner are still counted', async () => {
    await desk.account('attacker@x.org')
    for (let count = 0; count < 49; count += 1) {
      await expect(desk.signIn(`victim-${count}@x.org`, GOOD, STRANGER)).rejects.toMatchObject(
        REFUSED,
      )
    }
    expect(await desk.signIn('attacker@x.org', GOOD, STRANGER)).toBeDefined()
    await expect(desk.signIn('victim-50@x.org', GOOD, STRANGER)).rejects.toMatchObject(REFUSED)
    await expect(desk.signIn('victim-51@x.org', GOOD, STRANGER)).rejects.toMatchObject({
      code: 'TooManyRequests',
    })
  })

  test('that are turned away in one place are not felt in another', async () => {
    await desk.account('flooded@x.org')
    const flood = Promise.allSettled(
      Array.from({ length: 200 }, () => desk.signIn('flooded@x.org', BETTER, STRANGER)),
    )
    expect(await desk.signIn('flooded@x.org')).toMatchObject({ kind: 'signed-in' })
    const outcomes = await flood
    const codes = outcomes.map((each) => each.status === 'rejected' && each.reason.code)
    expect(codes.filter((code) => code === 'TooManyRequests')).toHaveLength(195)
  })

  test('from one network shut out no other, however patiently they are made', async () => {
    const email = 'besieged@x.org'
    await desk.account(email)
    const guess = () => desk.signIn(email, BETTER, STRANGER).catch((error: unknown) => error)
    for (let guesses = 0; guesses < 45;) {
      const outcome = await guess()
      if (isBlocked(outcome)) desk.forwardSeconds(outcome.retryAfterSeconds)
      else guesses += 1
    }
    expect(await desk.signIn(email)).toMatchObject({ kind: 'signed-in' })
  })

  test('from many places together are slowed down, the right one too where it is new', async () => {
    const email = 'surrounded@x.org'
    await desk.account(email)
    for (let place = 1; place <= 5; place += 1) {
      for (let count = 0; count < 5; count += 1) {
        const origin = from(`203.0.113.${place}`)
        await expect(desk.signIn(email, BETTER, origin)).rejects.toMatchObject(REFUSED)
      }
    }
    const blocked = await desk.signIn(email, GOOD, STRANGER).catch((error: unknown) => error)
    expect(blocked).toMatchObject({ code: 'TooManyRequests', retryAfterSeconds: 1 })
    desk.forwardSeconds(1)
    expect(await desk.signIn(email, GOOD, STRANGER)).toMatchObject({ kind: 'signed-in' })
  })

  test('that failed for a reason of ours are not counted', async () => {
    await desk.account('ours@x.org')
    for (let count = 0; count < 6; count += 1) {
      verified.mockRejectedValueOnce(new Error('out of memory'))
      await expect(desk.signIn('ours@x.org')).rejects.toThrow('out of memory')
    }
    verified.mockReset()
    expect(await desk.signIn('ours@x.org')).toMatchObject({ kind: 'signed-in' })
  })

  test('that are turned away are logged once for each wait', async () => {
    const before = (await desk.events('sign-in.blocked')).length
    for (let count = 0; count < 20; count += 1) {
      await desk.signIn('told@x.org').catch(() => undefined)
    }
    expect((await desk.events('sign-in.blocked')).length).toBe(before + 1)
  })
})
