import { createPrivateKey } from 'node:crypto'

import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { MAX_KEYS, RETIRED_KEY_SECONDS } from '#identity/keys/model.ts'
import type { Site } from '#sites/site.ts'
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
/** Both of its pools have their first key. */
const newSite = async () => {
  const { site } = await cluster.createSite(first, `keys-${++sites}.test`)
  const { auth } = await first.pools.bootstrap(site)
  await Promise.all([first.signingKeys.jwks(site, auth.userPoolId), kids(first, site)])
  return site
}

const mint = async (replica: Replica, site: Site) =>
  (
    await replica.tokenMint.mint(site, {
      user: 'vic@example.org',
      pool: 'data',
      use: 'access',
      groups: [],
    })
  ).token
const verify = async (replica: Replica, site: Site, token: string) =>
  replica.visitorTokens.verify(site, `Bearer ${token}`)
const kidOf = (token: string) => decodeProtectedHeader(token).kid

async function kids(replica: Replica, site: Site) {
  const { userPoolId } = await replica.pools.discovery(site)
  return (await replica.signingKeys.jwks(site, userPoolId)).keys.map((key) => key.kid)
}

const storedKeys = (site: Site) =>
  first.database.withSite(site.siteId, (tx) =>
    tx.db.selectFrom('signing_key').selectAll().execute(),
  )

describe('rotating the keys of a pool', () => {
  test('signs with the new key and still verifies what the old one signed', async () => {
    const site = await newSite()
    const old = await mint(first, site)
    const [rotated] = await first.signingKeys.rotate(site, ['data'])
    const fresh = await mint(first, site)
    expect(kidOf(fresh)).toBe(rotated?.kid)
    expect(kidOf(fresh)).not.toBe(kidOf(old))
    for (const token of [old, fresh]) await verify(first, site, token)
    expect(new Set(await kids(first, site))).toEqual(new Set([kidOf(old), kidOf(fresh)]))
  })

  test('reaches a replica that has the old keys in memory, without a restart', async () => {
    const site = await newSite()
    const old = await mint(second, site)
    await verify(second, site, old)
    const [rotated] = await first.signingKeys.rotate(site, ['data'])
    await expect.poll(async () => kidOf(await mint(second, site))).toBe(rotated?.kid)
    await verify(second, site, old)
  })

  test('lets a replica without a notification verify and, within a minute, sign', async () => {
    const site = await newSite()
    const deaf = await cluster.replica({ deaf: true })
    const old = await mint(deaf, site)
    await verify(deaf, site, old)
    await first.signingKeys.rotate(site, ['data'])
    cluster.clock.forwardSeconds(1)
    const fresh = await mint(first, site)
    expect(await verify(deaf, site, fresh)).toMatchObject({ username: 'vic@example.org' })
    cluster.clock.forwardSeconds(60)
    expect(kidOf(await mint(deaf, site))).toBe(kidOf(fresh))
  })

  test('after a leak ends every token of the pool, on a replica that trusted them too', async () => {
    const site = await newSite()
    const older = await mint(first, site)
    await first.signingKeys.rotate(site, ['data'])
    const old = await mint(first, site)
    for (const token of [older, old]) await verify(second, site, token)
    await first.signingKeys.rotate(site, ['data'], 'end')
    for (const token of [older, old]) {
      await expect(verify(first, site, token)).rejects.toMatchObject({ code: 'Unauthorized' })
      await expect
        .poll(() => verify(second, site, token).catch((error: unknown) => error))
        .toMatchObject({ code: 'Unauthorized' })
    }
    const fresh = await mint(second, site)
    expect(await kids(first, site)).toEqual([kidOf(fresh)])
    expect(await verify(first, site, fresh)).toMatchObject({ username: 'vic@example.org' })
  })

  test('leaves the other pool and the other sites alone', async () => {
    const [site, other] = [await newSite(), await newSite()]
    const before = [...(await storedKeys(site)), ...(await storedKeys(other))]
    const rotated = await first.signingKeys.rotate(site, ['admin'])
    const { auth } = await first.pools.bootstrap(site)
    expect(rotated).toEqual([{ userPoolId: auth.userPoolId, kid: expect.any(String) }])
    const after = [...(await storedKeys(site)), ...(await storedKeys(other))]
    expect(after).toHaveLength(before.length + 1)
    expect(after.filter((key) => key.retired_at !== null)).toHaveLength(1)
  })

  test('publishes a retired key until its last token has ended, then forgets it', async () => {
    const site = await newSite()
    const old = await mint(first, site)
    const [rotated] = await first.signingKeys.rotate(site, ['data'])
    cluster.clock.forwardSeconds(RETIRED_KEY_SECONDS - 1)
    expect(await kids(first, site)).toContain(kidOf(old))
    cluster.clock.forwardSeconds(1)
    expect(await kids(first, site)).toEqual([rotated?.kid])
    await expect(verify(first, site, old)).rejects.toMatchObject({ code: 'Unauthorized' })
    await first.signingKeys.rotate(site, ['data'])
    expect((await storedKeys(site)).map((key) => key.kid)).not.toContain(kidOf(old))
  })

  test('from two replicas at once leaves one key that signs', async () => {
    const site = await newSite()
    await Promise.all([
      first.signingKeys.rotate(site, ['data', 'admin']),
      second.signingKeys.rotate(site, ['data', 'admin']),
    ])
    const active = (await storedKeys(site)).filter((key) => key.retired_at === null)
    expect(new Set(active.map((key) => key.user_pool_id)).size).toBe(2)
    expect(active).toHaveLength(2)
    await verify(second, site, await mint(first, site))
  })

  test('stops, with a time to come back, when too many keys are alive', async () => {
    const site = await newSite()
    for (let count = 1; count < MAX_KEYS; count++) await first.signingKeys.rotate(site, ['data'])
    await expect(first.signingKeys.rotate(site, ['data'])).rejects.toMatchObject({
      code: 'TooManyRequests',
      retryAfterSeconds: RETIRED_KEY_SECONDS,
    })
    expect(await kids(first, site)).toHaveLength(MAX_KEYS)
    await verify(first, site, await mint(first, site))
  })
})

describe('a private key at rest', () => {
  test('is sealed: the row holds no PEM, no DER and none of its numbers', async () => {
    const site = await newSite()
    const rows = await storedKeys(site)
    expect(rows).toHaveLength(2)
    for (const row of rows) {
      const siteKey = await first.database.withSite(site.siteId, async (tx) => {
        const key = await tx.db.selectFrom('site_key').selectAll().executeTakeFirstOrThrow()
        return { siteId: site.siteId, wrappedKey: key.wrapped_key }
      })
      const context = `signing-key:${row.user_pool_id}:${row.kid}`
      const der = cluster.sealer.open(siteKey, context, row.sealed_private)
      const jwk = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
        format: 'jwk',
      })
      const stored = Buffer.concat([
        row.sealed_private,
        Buffer.from(JSON.stringify({ ...row, sealed_private: undefined })),
      ])
      for (const secret of [jwk.d, jwk.p, jwk.q, jwk.dp, jwk.dq, jwk.qi]) {
        expect(secret).toMatch(/^[\w-]{100,}$/)
        expect(stored.includes(Buffer.from(secret ?? '', 'base64url'))).toBe(false)
        expect(stored.includes(secret ?? '')).toBe(false)
      }
      expect(stored.includes(der.subarray(0, 26))).toBe(false)
      expect(stored.includes('PRIVATE KEY')).toBe(false)
    }
  })

  test('does not open as the key of another pool', async () => {
    const site = await newSite()
    const [one, two] = await storedKeys(site)
    await first.database.withSite(site.siteId, async (tx) => {
      await tx.db
        .updateTable('signing_key')
        .set({ sealed_private: one?.sealed_private ?? Buffer.alloc(0) })
        .where('site_id', '=', site.siteId)
        .where('kid', '=', two?.kid ?? '')
        .execute()
    })
    const outcomes = await Promise.allSettled([
      mint(second, site),
      second.tokenMint.mint(site, {
        user: `ann@${site.domain}`,
        pool: 'admin',
        use: 'access',
        groups: [],
      }),
    ])
    const faults = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(faults).toHaveLength(1)
    expect(String(faults[0])).toContain('does not open')
  })
})
