import { afterAll, beforeAll, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let beside: Stack
beforeAll(async () => {
  // The queues are not worked: what is there comes from the transaction that creates the site.
  stack = await startStack({ works: false })
  beside = await startStack({ beside: stack, works: false })
})
afterAll(async () => {
  await beside[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

test('a new site is published when its creation is acknowledged, on every replica', async () => {
  const domain = 'brand-new.test'
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  for (const replica of [stack, beside]) {
    const site = await RuntimeSite.open(replica, domain)
    expect(await site.call('greet')).toMatchObject({
      status: 404,
      json: { ok: false, error: { code: 'OperationNotFound' } },
    })
    const { json } = await site.admin('GET', '/resources')
    expect(json.permissionsSync).toMatchObject({ status: 'succeeded' })
  }
})

test('the first revision has the settings that the site is created with', async () => {
  const domain = 'settled.test'
  const deploymentSettings = { egress: { allow: ['api.example.org'] } }
  await stack.createSite({ domain, superAdmins: [], deploymentSettings })
  const revisions = await stack.inSite(domain, ({ db }) =>
    db.selectFrom('site_revision').select(['revision', 'document']).execute(),
  )
  expect(revisions).toEqual([
    { revision: 1, document: expect.objectContaining({ egressAllow: ['api.example.org'] }) },
  ])
})
