import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Site } from '#sites/site.ts'
import { AccountsDesk, BETTER, GOOD, from } from '#test/accounts-desk.ts'

const EXPIRED = { code: 'LinkExpired' }
const WEEK_SECONDS = 7 * 24 * 60 * 60
let desk: AccountsDesk
beforeAll(async () => {
  desk = await AccountsDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

let sites = 0
async function invited() {
  const domain = `site${(sites += 1)}.test`
  const { site, onboarding } = await desk.cluster.createSite(desk.replica, domain)
  const token = new URL(onboarding[0]?.url ?? '').searchParams.get('token') ?? ''
  return { site, token, email: `ann@${domain}` }
}

const take = (site: Site, token: string, password = GOOD) =>
  desk.accounts.inviteAcceptances.accept(site, { token, password }, from())

const signIn = async (site: Site, email: string, password = GOOD) => {
  const { auth } = await desk.replica.pools.bootstrap(site)
  const pool = await desk.replica.pools.byId(site, auth.userPoolId)
  return desk.accounts.passwordSignIns.authenticate(
    { site, pool, origin: from() },
    { email, password },
  )
}

describe('an invite', () => {
  test('says whose invite it is, as often as it is looked at', async () => {
    const { site, token, email } = await invited()
    for (let count = 0; count < 3; count += 1) {
      expect(await desk.accounts.inviteAcceptances.find(site, token)).toEqual({
        email,
        role: 'super-admin',
      })
    }
  })

  test('makes the account its owner’s, with the password that they choose', async () => {
    const { site, token, email } = await invited()
    const user = await take(site, token)
    expect(user).toMatchObject({
      email,
      role: 'super-admin',
      status: 'ACTIVE',
      emailVerified: true,
    })
    expect(await signIn(site, email)).toMatchObject({ kind: 'signed-in', user: { sub: user.sub } })
    const events = await desk.replica.database.withSite(site.siteId, (tx) =>
      tx.db
        .selectFrom('security_event')
        .select(['event', 'sub', 'email', 'address'])
        .where('event', '=', 'invite.redeemed')
        .execute(),
    )
    expect(events).toEqual([
      { event: 'invite.redeemed', sub: user.sub, email, address: '192.0.2.1' },
    ])
  })

  test('taken twice is 410, and the first password stays', async () => {
    const { site, token, email } = await invited()
    await take(site, token)
    await expect(take(site, token, BETTER)).rejects.toMatchObject(EXPIRED)
    expect(await desk.accounts.inviteAcceptances.find(site, token)).toBeUndefined()
    expect(await signIn(site, email, GOOD)).toBeDefined()
  })

  test('is given to one of eight who take it at once', async () => {
    const { site, token, email } = await invited()
    const passwords = Array.from({ length: 8 }, (_, index) => `Tr4vel-light-${index}`)
    const outcomes = await Promise.allSettled(
      passwords.map((password) => take(site, token, password)),
    )
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(7)
    for (const each of refused) expect(each).toMatchObject({ reason: EXPIRED })
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect(await signIn(site, email, passwords[won])).toMatchObject({ kind: 'signed-in' })
  })

  test('outlives a password that the policy refuses', async () => {
    const { site, token } = await invited()
    await expect(take(site, token, 'weak')).rejects.toMatchObject({ code: 'InvalidPassword' })
    expect(await take(site, token)).toMatchObject({ status: 'ACTIVE' })
  })

  test('ends after seven days', async () => {
    const { site, token } = await invited()
    desk.forwardSeconds(WEEK_SECONDS - 1)
    expect(await desk.accounts.inviteAcceptances.find(site, token)).toBeDefined()
    desk.forwardSeconds(1)
    expect(await desk.accounts.inviteAcceptances.find(site, token)).toBeUndefined()
    await expect(take(site, token)).rejects.toMatchObject(EXPIRED)
  })

  test.each([
    ['unknown', 'A'.repeat(43)],
    ['empty', ''],
    ['huge', 'A'.repeat(100_000)],
    ['with NUL', 'A\0B'],
  ])('that is %s is 410', async (_what, token) => {
    const { site } = await invited()
    expect(await desk.accounts.inviteAcceptances.find(site, token)).toBeUndefined()
    await expect(take(site, token)).rejects.toMatchObject(EXPIRED)
  })

  test('of another site is 410 here, and good there', async () => {
    const [one, two] = [await invited(), await invited()]
    expect(await desk.accounts.inviteAcceptances.find(one.site, two.token)).toBeUndefined()
    await expect(take(one.site, two.token)).rejects.toMatchObject(EXPIRED)
    expect(await take(two.site, two.token)).toMatchObject({ email: two.email })
  })
})
