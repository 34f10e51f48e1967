import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Site } from '#sites/site.ts'
import { from } from '#test/accounts-desk.ts'
import { IdentityCluster, type Replica } from '#test/identity-replica.ts'

let cluster: IdentityCluster
let first: Replica
let second: Replica
beforeAll(async () => {
  cluster = await IdentityCluster.start()
  first = await cluster.replica()
  second = await cluster.replica()
})
afterAll(() => cluster[Symbol.asyncDispose]())

let sites = 0
const newSite = async () => (await cluster.createSite(first, `tokens-${++sites}.test`)).site

const adminToken = async (site: Site, use: 'access' | 'id' = 'access') =>
  (await first.tokenMint.mint(site, { user: `ann@${site.domain}`, pool: 'admin', use, groups: [] }))
    .token

const visitorToken = async (site: Site, user = 'vic@example.org', groups = ['editors']) =>
  (await first.tokenMint.mint(site, { user, pool: 'data', use: 'access', groups })).token

const asAdmin = (replica: Replica, site: Site, token: string) =>
  replica.adminTokens.verify(site, { authorization: `Bearer ${token}`, origin: from() })
const asVisitor = async (replica: Replica, site: Site, token: string) =>
  replica.visitorTokens.verify(site, `Bearer ${token}`)

const REFUSED = { code: 'Unauthorized' }

async function changeUser(site: Site, email: string, change: { role: 'user' } | 'delete') {
  await first.database.withSite(site.siteId, async ({ db }) => {
    if (change === 'delete') {
      await db.deleteFrom('pool_user').where('email', '=', email).execute()
    } else await db.updateTable('pool_user').set(change).where('email', '=', email).execute()
  })
}

describe('a minted token', () => {
  test.each(['access', 'id'] as const)('of use %s makes its admin the actor', async (use) => {
    const site = await newSite()
    const token = await adminToken(site, use)
    expect(await asAdmin(second, site, token)).toEqual({
      type: 'user',
      userId: decodeJwt(token).sub,
      email: `ann@${site.domain}`,
      role: 'super-admin',
      signedInAt: new Date((decodeJwt(token).iat ?? 0) * 1000),
      origin: from(),
    })
  })

  test('says what the contract says, and nothing else', async () => {
    const site = await newSite()
    const data = await first.pools.discovery(site)
    const token = await visitorToken(site)
    const now = Math.floor(cluster.clock.now().getTime() / 1000)
    expect(decodeJwt(token)).toEqual({
      sub: expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/),
      iss: data.issuer,
      client_id: data.userPoolClientId,
      token_use: 'access',
      username: 'vic@example.org',
      'cognito:groups': ['editors'],
      auth_time: now,
      iat: now,
      exp: now + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(decodeProtectedHeader(token)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.stringMatching(/^[\w-]{43}$/),
    })
  })

  test('carries the admin’s role as its group', async () => {
    const site = await newSite()
    expect(decodeJwt(await adminToken(site))['cognito:groups']).toEqual(['super-admin'])
  })

  test('for an unknown admin is a 404 that names the address', async () => {
    const site = await newSite()
    const minted = first.tokenMint.mint(site, {
      user: 'nobody@example.org',
      pool: 'admin',
      use: 'access',
      groups: [],
    })
    await expect(minted).rejects.toMatchObject({
      code: 'UserNotFound',
      message: 'User "nobody@example.org" does not exist',
    })
  })

  test('for an unknown visitor creates one account, also when two ask at once', async () => {
    const site = await newSite()
    const tokens = await Promise.all([
      visitorToken(site, 'New@Example.org'),
      visitorToken(site, 'new@example.org'),
    ])
    const [one, two] = tokens.map((token) => decodeJwt(token).sub)
    expect(one).toBe(two)
    const rows = await first.database.withSite(site.siteId, (tx) =>
      tx.db
        .selectFrom('pool_user')
        .select(['email', 'email_verified', 'status', 'origin', 'role'])
        .where('sub', '=', one ?? '')
        .execute(),
    )
    expect(rows).toEqual([
      {
        email: 'new@example.org',
        email_verified: true,
        status: 'ACTIVE',
        origin: 'operator',
        role: null,
      },
    ])
  })

  test('of the admin pool takes no groups', async () => {
    const site = await newSite()
    const minted = first.tokenMint.mint(site, {
      user: `ann@${site.domain}`,
      pool: 'admin',
      use: 'access',
      groups: ['root'],
    })
    await expect(minted).rejects.toMatchObject({ code: 'ValidationError' })
  })

  test('is never longer than what is accepted', async () => {
    const site = await newSite()
    const groups = Array.from({ length: 25 }, (_, index) => `${index}`.padEnd(1000, 'g'))
    await expect(visitorToken(site, 'vic@example.org', groups)).rejects.toMatchObject({
      code: 'ValidationError',
    })
  })
})

describe('an admin’s token', () => {
  test('has the role that the database says now', async () => {
    const site = await newSite()
    const token = await adminToken(site)
    expect((await asAdmin(second, site, token)).role).toBe('super-admin')
    await changeUser(site, `ann@${site.domain}`, { role: 'user' })
    expect((await asAdmin(second, site, token)).role).toBe('user')
  })

  test('ends with its user', async () => {
    const site = await newSite()
    const token = await adminToken(site)
    await asAdmin(second, site, token)
    await changeUser(site, `ann@${site.domain}`, 'delete')
    await expect(asAdmin(second, site, token)).rejects.toMatchObject(REFUSED)
  })

  test('is refused for /data, and a visitor’s for /admin', async () => {
    const site = await newSite()
    await expect(asVisitor(first, site, await adminToken(site))).rejects.toMatchObject(REFUSED)
    await expect(asAdmin(first, site, await visitorToken(site))).rejects.toMatchObject(REFUSED)
  })
})

describe('a visitor’s token', () => {
  test('answers at once, with the same visitor, when it was seen before', async () => {
    const site = await newSite()
    const token = await visitorToken(site)
    const visitor = await asVisitor(second, site, token)
    expect(visitor).toMatchObject({ username: 'vic@example.org', groups: ['editors'] })
    expect(second.visitorTokens.verify(site, `Bearer ${token}`)).toBe(visitor)
  })

  test('is refused on another site that has seen nothing of it, and after its own accepted it', async () => {
    const [site, other] = [await newSite(), await newSite()]
    const token = await visitorToken(site)
    await asVisitor(first, site, token)
    await expect(asVisitor(first, other, token)).rejects.toMatchObject(REFUSED)
    await asVisitor(first, site, token)
  })

  test('ends a minute after its user went', async () => {
    const site = await newSite()
    const token = await visitorToken(site)
    await asVisitor(first, site, token)
    await changeUser(site, 'vic@example.org', 'delete')
    cluster.clock.forwardSeconds(60)
    await expect(asVisitor(first, site, token)).rejects.toMatchObject(REFUSED)
  })

  test('is refused as id token', async () => {
    const site = await newSite()
    const { token } = await first.tokenMint.mint(site, {
      user: 'vic@example.org',
      pool: 'data',
      use: 'id',
      groups: [],
    })
    await expect(asVisitor(first, site, token)).rejects.toMatchObject(REFUSED)
  })
})

describe('a token past its hour', () => {
  test('is TokenExpired when nothing else is wrong', async () => {
    const site = await newSite()
    const [admin, visitor] = [await adminToken(site), await visitorToken(site)]
    await asVisitor(first, site, visitor)
    cluster.clock.forwardSeconds(3599)
    await asAdmin(first, site, admin)
    await asVisitor(first, site, visitor)
    cluster.clock.forwardSeconds(1)
    await expect(asAdmin(first, site, admin)).rejects.toMatchObject({ code: 'TokenExpired' })
    await expect(asVisitor(first, site, visitor)).rejects.toMatchObject({ code: 'TokenExpired' })
  })

  test('is Unauthorized when its user is gone too', async () => {
    const site = await newSite()
    const token = await adminToken(site)
    await changeUser(site, `ann@${site.domain}`, 'delete')
    cluster.clock.forwardSeconds(3600)
    await expect(asAdmin(first, site, token)).rejects.toMatchObject(REFUSED)
  })
})

describe('revoking a user’s tokens', () => {
  test('ends the visitor’s at once here, and on the other replica with the notification', async () => {
    const site = await newSite()
    const { userPoolId } = await first.pools.discovery(site)
    const [token, bystander] = [await visitorToken(site), await visitorToken(site, 'b@x.org')]
    const { sub } = await asVisitor(first, site, token)
    await asVisitor(second, site, token)
    const untouched = await asVisitor(second, site, bystander)

    await first.users.revokeTokens(site, userPoolId, sub)

    await expect(asVisitor(first, site, token)).rejects.toMatchObject(REFUSED)
    await expect
      .poll(() => asVisitor(second, site, token).catch((error: unknown) => error))
      .toMatchObject(REFUSED)
    expect(second.visitorTokens.verify(site, `Bearer ${bystander}`)).toBe(untouched)
  })

  test('leaves the next token good, in the same second', async () => {
    const site = await newSite()
    const { userPoolId } = await first.pools.discovery(site)
    const { sub } = await asVisitor(first, site, await visitorToken(site))
    await first.users.revokeTokens(site, userPoolId, sub)
    const next = await visitorToken(site)
    expect((await asVisitor(first, site, next)).sub).toBe(sub)
  })

  test('ends an admin’s', async () => {
    const site = await newSite()
    const token = await adminToken(site)
    const { userId } = await asAdmin(first, site, token)
    const { auth } = await first.pools.bootstrap(site)
    await first.users.revokeTokens(site, auth.userPoolId, userId)
    await expect(asAdmin(second, site, token)).rejects.toMatchObject(REFUSED)
  })
})
