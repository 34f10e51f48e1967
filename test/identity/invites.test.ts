import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { StepUpActor } from '#base/actor.ts'
import { noStepUp } from '#base/effects.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
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

const ORIGIN: RequestOrigin = { address: '203.0.113.7', userAgent: '', requestId: 'r' }
const BY: StepUpActor = {
  type: 'user',
  userId: 'sue',
  email: 'sue@x.org',
  role: 'super-admin',
  signedInAt: new Date(),
  origin: ORIGIN,
  stepUp: noStepUp,
}
const PASSWORD = 'Correct-horse-7-battery'

describe('taking an invite', () => {
  test.each([
    ['proves the address that it went to', {}, true],
    ['proves nothing about the other', { externalEmail: 'out@x.org' }, false],
  ])('%s', async (_what, external, verified) => {
    const { site } = await invited()
    await replica.adminUsers.create(site, BY, { email: 'bob@x.org', ...external })
    const mail = cluster.mail.messages.at(-1)
    const token = /token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? ''
    const user = await replica.inviteAcceptances.accept(site, { token, password: PASSWORD }, ORIGIN)
    expect(user).toMatchObject({ email: 'bob@x.org', status: 'ACTIVE', emailVerified: verified })
  })
})

describe('sending invitations again while they are taken', () => {
  test('leaves no link to an account that is in use', async () => {
    const people = Array.from({ length: 6 }, (_, n) => `p${n}@x.org`)
    const { site, tokens } = await invited(people)
    const taking = tokens.map((token) =>
      replica.inviteAcceptances.accept(site, { token, password: PASSWORD }, ORIGIN).then(
        () => 'taken',
        (error: { code: string }) => error.code,
      ),
    )
    // Hashing a password takes its time: now some are through, and some are not.
    await Promise.race(taking)
    const resending = Array.from({ length: 4 }, () =>
      replica.superAdminInvites.resend(site, BY, {}),
    )
    const outcomes = await Promise.all(taking)
    await Promise.all(resending)
    const rows = await replica.database.withSite(site.siteId, (tx) =>
      tx.db
        .selectFrom('pool_user')
        .leftJoin('user_invite', (join) =>
          join.onRef('user_invite.sub', '=', 'pool_user.sub').on('used_at', 'is', null),
        )
        .select(['email', 'status', 'token_hash'])
        .orderBy('email')
        .execute(),
    )
    const seen = rows.map(({ token_hash, ...row }) => ({ ...row, hasLink: token_hash !== null }))
    const expected = outcomes.map((outcome, n) => {
      const taken = outcome === 'taken'
      return { email: people[n], status: taken ? 'ACTIVE' : 'INVITED', hasLink: !taken }
    })
    expect(seen).toEqual(expected)
    expect(new Set(outcomes).difference(new Set(['taken', 'LinkExpired']))).toEqual(new Set())
  })
})
