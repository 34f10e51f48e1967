import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

let first: Stack
let second: Stack
beforeAll(async () => {
  first = await startStack({ sites: [] })
  second = await startStack({ beside: first })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const seenBy = async (stack: Stack, host: string) => {
  const { status, json } = await stack.call(host, 'GET', '/admin/public/config')
  return status === 200 ? json.siteId : status
}

describe('a replica', () => {
  test('learns of a site that another one made, also under a name it knew as unused', async () => {
    expect(await seenBy(second, 'made.test')).toBe(404)
    const { siteId } = await first.createSite({ domain: 'made.test' })
    await vi.waitUntil(async () => (await seenBy(second, 'made.test')) === siteId, PATIENCE)
  })

  test('follows a site to its new domain', async () => {
    const { siteId } = await first.createSite({ domain: 'before.test' })
    await vi.waitUntil(async () => (await seenBy(second, 'before.test')) === siteId, PATIENCE)
    const moved = await first.portal('PATCH', `/sites/${siteId}`, { domain: 'after.test' })
    expect(moved.status).toBe(200)
    await vi.waitUntil(async () => (await seenBy(second, 'before.test')) === 404, PATIENCE)
    expect(await seenBy(second, 'after.test')).toBe(siteId)
  })

  test('forgets a site that another one deleted', async () => {
    const { siteId } = await first.createSite({ domain: 'gone.test' })
    await vi.waitUntil(async () => (await seenBy(second, 'gone.test')) === siteId, PATIENCE)
    const deleted = await first.portal('DELETE', `/sites/${siteId}`, { confirm: true })
    expect(deleted.status).toBe(204)
    await vi.waitUntil(async () => (await seenBy(second, 'gone.test')) === 404, PATIENCE)
  })

  test('answers from memory in between', async () => {
    await first.createSite({ domain: 'known.test' })
    // The first answer may still have to wait for word of the new site.
    const answer = await vi.waitUntil(async () => {
      const found = second.context.sites.byHost('known.test')
      return found instanceof Promise ? void (await found) : found
    }, PATIENCE)
    expect(answer.domain).toBe('known.test')
  })
})
