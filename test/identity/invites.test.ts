import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Site } from '#sites/site.ts'
import { BASE_URL, IdentityCluster, type Replica } from '#test/identity-replica.ts'

const WEEK_SECONDS = 7 * 24 * 3600

let cluster: IdentityCluster
let replica: Replica
beforeAll(async () => {
  cluster = await IdentityCluster.start()
  replica = await cluster.replica()
})
afterAll(() => cluster[Symbol.asyncDispose]())

let sites = 0
async function invited(superAdmins?: readonly string[]) {
  const created = await cluster.createSite(replica, `invites-${++sites}.test`, superAdmins)
  const tokens = created.onboarding.map(({ url }) => new URL(url).searchParams.get('token') ?? '')
  return { ...created, tokens, token: tokens[0] ?? '' }
}

const redeem = (site: Site, token: string) =>
  replica.database.withSite(site.siteId, (tx) => replica.invites.redeem(tx, token))

describe('a new site’s super-admins', () => {
  test('are invited once each, on the page of their role', async () => {
    const { site, onboarding } = await invited(['Ann@x.org', 'bob@x.org', 'ann@x.org'])
    const page = new URL('/admin/public/onboarding/super-admin', BASE_URL)
    page.hostname = site.domain
    expect(onboarding).toEqual(
      ['ann@x.org', 'bob@x.org'].map((email) => ({
        email,
        url: expect.stringMatching(new RegExp(`^${page.href}\\?token=[\\w-]{43}$`)),
      })),
    )
    const users = await replica.database.withSite(site.siteId, (tx) =>
      tx.db.selectFrom('pool_user').select(['email', 'role', 'status', 'email_verified']).execute(),
    )
    expect(users).toEqual(
      ['ann@x.org', 'bob@x.org'].map((email) => ({
        email,
        role: 'super-admin',
        status: 'INVITED',
        email_verified: false,
      })),
    )
  })

  test('may be none', async () => {
    expect((await invited([])).onboarding).toEqual([])
  })
})

describe('an invite', () => {
  test('is stored as its hash alone', async () => {
    const { site, token } = await invited()
    const rows = await replica.database.withSite(site.siteId, (tx) =>
      tx.db.selectFrom('user_invite').selectAll().execute(),
    )
    expect(rows.map((row) => row.token_hash)).toEqual([createHash('sha256').update(token).digest()])
    expect(JSON.stringify(rows)).not.toContain(token)
  })

  test('is good once, for the user it was made for', async () => {
    const { site, token } = await invited()
    const { auth } = await replica.pools.bootstrap(site)
    expect(await redeem(site, token)).toEqual({
      userPoolId: auth.userPoolId,
      sub: expect.any(String),
    })
    expect(await redeem(site, token)).toBeUndefined()
  })

  test('can be looked at without using it up, as long as it is good', async () => {
    const { site, token } = await invited()
    const look = () =>
      replica.database.withSite(site.siteId, (tx) => replica.invites.find(tx, token))
    expect(await look()).toEqual(await look())
    expect(await look()).toEqual(await redeem(site, token))
    expect(await look()).toBeUndefined()
  })

  test('is given to one of ten who redeem it at once', async () => {
    const { site, token } = await invited()
    const given = await Promise.all(Array.from({ length: 10 }, () => redeem(site, token)))
    expect(given.filter(Boolean)).toHaveLength(1)
  })

  test('stays good when the transaction that used it fails', async () => {
    const { site, token } = await invited()
    const failed = replica.database.withSite(site.siteId, async (tx) => {
      await replica.invites.redeem(tx, token)
      throw new Error('later step failed')
    })
    await expect(failed).rejects.toThrow('later step failed')
    expect(await redeem(site, token)).toBeDefined()
  })

  test('ends after seven days', async () => {
    const [early, late] = [await invited(), await invited()]
    cluster.clock.forwardSeconds(WEEK_SECONDS - 1)
    expect(await redeem(early.site, early.token)).toBeDefined()
    cluster.clock.forwardSeconds(1)
    expect(await redeem(late.site, late.token)).toBeUndefined()
  })

  test('ends when a new one is issued', async () => {
    const { site, token } = await invited()
    const issued = await replica.database.withSite(site.siteId, async (tx) => {
      const pool = await replica.pools.byId(
        site,
        (await replica.pools.bootstrap(site)).auth.userPoolId,
      )
      const user = await replica.users.byEmail(site, pool, `ann@${site.domain}`)
      return replica.invites.send(tx, site, user)
    })
    expect(await redeem(site, token)).toBeUndefined()
    expect(await redeem(site, new URL(issued.url).searchParams.get('token') ?? '')).toBeDefined()
  })

  test('of another site is unknown', async () => {
    const [one, two] = [await invited(), await invited()]
    expect(await redeem(one.site, two.token)).toBeUndefined()
    expect(await redeem(two.site, two.token)).toBeDefined()
  })
})
