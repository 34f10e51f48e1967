import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Site } from '#sites/site.ts'
import { IdentityCluster, type Replica } from '#test/identity-replica.ts'

let cluster: IdentityCluster
let first: Replica
let second: Replica
let deaf: Replica
beforeAll(async () => {
  cluster = await IdentityCluster.start()
  first = await cluster.replica()
  second = await cluster.replica()
  deaf = await cluster.replica({ deaf: true })
})
afterAll(() => cluster[Symbol.asyncDispose]())

let sites = 0
const newSite = async () => (await cluster.createSite(first, `first-keys-${++sites}.test`)).site

const TOKEN = { user: 'vic@example.org', pool: 'data', use: 'access', groups: [] } as const
const mint = async (replica: Replica, site: Site) =>
  (await replica.tokenMint.mint(site, TOKEN)).token
const verify = (replica: Replica, site: Site, token: string) =>
  replica.visitorTokens.verify(site, `Bearer ${token}`)
const kidOf = (token: string) => decodeProtectedHeader(token).kid

async function kids(replica: Replica, site: Site) {
  const { userPoolId } = await replica.pools.discovery(site)
  return (await replica.signingKeys.jwks(site, userPoolId)).keys.map((key) => key.kid)
}

const storedKids = async (site: Site) => {
  const rows = await first.database.withSite(site.siteId, (tx) =>
    tx.db.selectFrom('signing_key').select('kid').execute(),
  )
  return rows.map(({ kid }) => kid)
}

describe('the first key of a pool', () => {
  test('is made when its JWKS is fetched, and signs from then on', async () => {
    const site = await newSite()
    expect(await storedKids(site)).toEqual([])
    const published = await kids(first, site)
    expect(published).toHaveLength(1)
    expect(await storedKids(site)).toEqual(published)
    expect([kidOf(await mint(first, site))]).toEqual(published)
  })

  test('is made when its first token is, and verifies it everywhere', async () => {
    const site = await newSite()
    const token = await mint(first, site)
    expect(await storedKids(site)).toEqual([kidOf(token)])
    const restarted = await cluster.replica()
    for (const replica of [first, second, deaf, restarted]) {
      expect(await verify(replica, site, token)).toMatchObject({ username: TOKEN.user })
      expect(await kids(replica, site)).toEqual([kidOf(token)])
    }
  })

  test('is one, however many ask all replicas at once', async () => {
    const site = await newSite()
    const replicas = [first, second, deaf, first, second, deaf]
    const asked = await Promise.all(
      replicas.map(async (replica, at) =>
        at < 3 ? kids(replica, site) : [kidOf(await mint(replica, site))],
      ),
    )
    expect(new Set(asked.flat())).toEqual(new Set(await storedKids(site)))
    expect(await storedKids(site)).toHaveLength(1)
  })

  test('is found by a replica that knows the pool without it and gets no notification', async () => {
    const site = await newSite()
    await deaf.pools.discovery(site)
    const token = await mint(first, site)
    expect(await verify(deaf, site, token)).toMatchObject({ username: TOKEN.user })
    expect(await kids(deaf, site)).toEqual([kidOf(token)])
  })

  test('is used by such a replica instead of one of its own', async () => {
    const site = await newSite()
    await deaf.pools.discovery(site)
    const published = await kids(first, site)
    expect([kidOf(await mint(deaf, site))]).toEqual(published)
    expect(await storedKids(site)).toEqual(published)
  })

  test('is the one of a rotation that comes before it, and outlives one that keeps the old', async () => {
    const site = await newSite()
    await deaf.pools.discovery(site)
    const [rotated] = await first.signingKeys.rotate(site, ['data'])
    expect(await kids(deaf, site)).toEqual([rotated?.kid])
    const other = await newSite()
    const token = await mint(deaf, other)
    await first.signingKeys.rotate(other, ['data'])
    for (const replica of [first, second, deaf]) await verify(replica, other, token)
  })

  test('is one beside that of a rotation at the same moment', async () => {
    const site = await newSite()
    const [token, [rotated]] = await Promise.all([
      mint(second, site),
      first.signingKeys.rotate(site, ['data']),
    ])
    const stored = await storedKids(site)
    expect(new Set(stored)).toEqual(new Set([kidOf(token), rotated?.kid]))
    for (const replica of [first, second]) {
      await verify(replica, site, token)
      await expect.poll(async () => kidOf(await mint(replica, site))).toBe(rotated?.kid)
    }
  })

  test('leaves the other pool and junk tokens without one', async () => {
    const site = await newSite()
    const other = await newSite()
    const token = await mint(first, other)
    await expect(verify(first, site, token)).rejects.toMatchObject({ code: 'Unauthorized' })
    expect(await storedKids(site)).toEqual([])
    await mint(first, site)
    expect(await storedKids(site)).toHaveLength(1)
  })
})
