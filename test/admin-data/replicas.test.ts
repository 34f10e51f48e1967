import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BY_ID = { partitionKey: { name: 'id', type: 'S' } }

let stack: Stack
let second: Stack
let site: RuntimeSite
let table: SiteTable
let sites = 0
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  second = await startStack({ beside: stack })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})
beforeEach(async () => {
  site = await RuntimeSite.create(stack, `site-${++sites}.test`)
  table = await SiteTable.create(site, 'items', BY_ID)
})

/** A get on the other replica, which answers from what it has seen there before. */
const getThere = async (token: string): Promise<number> => {
  const path = `/admin/data/resources/${table.resourceId}/data/ddb/get`
  const body = { key: { id: 'a' } }
  return (await second.call(site.host, 'POST', path, { token, body })).status
}

const admin = () => stack.adminToken(site.host, 'admin')

describe('what ends on one replica ends on the other with its next request', () => {
  test('an admin whose role is taken away', async () => {
    const token = await admin()
    expect(await getThere(token)).toBe(200)
    await stack.inSite(site.host, (tx) =>
      tx.db
        .updateTable('pool_user')
        .set({ role: 'user' })
        .where('email', '=', `admin@${site.host}`)
        .execute(),
    )
    expect(await getThere(token)).toBe(403)
  })

  test('an admin who is removed', async () => {
    const token = await admin()
    expect(await getThere(token)).toBe(200)
    const ann = await stack.adminToken(site.host)
    const path = `/admin/api/users/${decodeJwt(token).sub}`
    const removed = await stack.call(site.host, 'DELETE', path, { token: ann })
    expect(removed.status).toBe(204)
    expect(await getThere(token)).toBe(401)
  })

  test('a sign-in that its admin ends from another', async () => {
    const admins = await RelyingParty.of(stack, site.host, 'admin')
    await admin()
    await admins.user(`admin@${site.host}`)
    const { access_token: lost } = await admins.tokens(`admin@${site.host}`)
    const { access_token: kept } = await admins.tokens(`admin@${site.host}`)
    expect([await getThere(lost), await getThere(kept)]).toEqual([200, 200])
    const path = '/admin/api/profile/sessions'
    expect((await stack.call(site.host, 'DELETE', path, { token: kept })).status).toBe(204)
    expect([await getThere(lost), await getThere(kept)]).toEqual([401, 200])
  })

  test('all tokens of keys that leaked', async () => {
    const token = await admin()
    expect(await getThere(token)).toBe(200)
    const rotated = await stack.portal('POST', `/sites/${site.host}/keys/rotate`, {
      pool: 'admin',
      oldTokens: 'end',
    })
    expect(rotated.status).toBe(200)
    // Keys are announced by a notification.
    await expect.poll(() => getThere(token)).toBe(401)
  })

  test('a table that is deleted', async () => {
    const token = await admin()
    expect(await getThere(token)).toBe(200)
    const deleted = await site.admin('DELETE', `/resources/${table.resourceId}`)
    expect(deleted.status).toBe(200)
    expect(await getThere(token)).toBe(404)
  })

  test('a site that is deleted', async () => {
    const token = await admin()
    expect(await getThere(token)).toBe(200)
    const deleted = await stack.portal('DELETE', `/sites/${site.host}`, { confirm: true })
    expect(deleted.status).toBe(204)
    // 401 until the notification says that the host has no site.
    expect([401, 404]).toContain(await getThere(token))
  })
})

test('a table that has been changed on one replica is used as it is now on the other', async () => {
  const token = await admin()
  expect(await getThere(token)).toBe(200)
  const query = {
    indexName: 'by-kind',
    keyConditionExpression: 'kind = :k',
    expressionAttributeValues: { ':k': 'x' },
  }
  const there = table.seenBy(await RuntimeSite.open(second, site.host))
  expect((await there.call('query', query)).status).toBe(400)
  const index = { name: 'by-kind', partitionKey: { name: 'kind', type: 'S' } }
  const changed = await site.admin('PATCH', `/resources/${table.resourceId}`, {
    config: { globalSecondaryIndexes: [index] },
  })
  expect(changed.status).toBe(200)
  expect((await there.call('query', query)).status).toBe(200)
})
