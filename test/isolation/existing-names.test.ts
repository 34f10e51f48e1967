import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { openCalledSite, othersOf } from '#test/callers.ts'
import { furnish } from '#test/furnished-site.ts'
import { storeMail } from '#test/mail-rows.ts'
import { type CalledSite, walk } from '#test/route-walk.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
/** They are admitted nearly everywhere, and would change what the others name. */
const LEFT_OUT = new Set(['visitor', 'admin', 'super-admin', 'super-admin 30 min', 'operator'])
/** Ends the sign-ins of its caller. */
const SIGN_OUT = 'DELETE /admin/api/profile/sessions/'
/** `/data/public` responds with 401 to a call of an operation that is not public, and with 404 where there is no operation. */
const OPERATIONS = [
  'ALL /data/:operation',
  'ALL /data/:operation/*',
  'ALL /data/public/:operation',
  'POST /data/public/:operation',
  'ALL /data/public/:operation/*',
]

let stack: Stack
let site: CalledSite
let existing: CalledSite['names']
beforeAll(async () => {
  stack = await startStack({ sites: ['two.test'], config: { trustedProxies: ['127.0.0.1'] } })
  const others = await othersOf(stack, 'two.test')
  const opened = await openCalledSite({ stack, earlier: stack, host: HOST, others })
  site = { ...opened, callers: opened.callers.filter(({ name }) => !LEFT_OUT.has(name)) }
  existing = { ...(await runtimeNames()), ...(await operatedNames()) }
})
afterAll(() => stack[Symbol.asyncDispose]())

async function runtimeNames() {
  const runtime = await RuntimeSite.open(stack, HOST)
  const ids = await furnish(stack, runtime)
  const fn = await runtime.putFunction('fn', "export default { fetch: () => new Response('x') }")
  await runtime.putOperation('page', { lambdaResourceId: fn, http: true })
  await runtime.synced()
  const { table, job, run, group, profile, visitor } = ids
  return {
    resourceId: table,
    operation: 'page',
    jobId: job,
    runId: run,
    groupName: group,
    profileName: profile,
    sub: visitor,
  }
}

async function operatedNames() {
  const created = async (path: string, body: object) => {
    const { status, text, json } = await stack.portal('POST', `/sites/${HOST}${path}`, body)
    expect(status, text).toBeLessThan(300)
    return json
  }
  const address = `box@${HOST}`
  await created('/mailboxes', { address, owners: [`ann@${HOST}`] })
  const { credentialId } = await created(`/mailboxes/${address}/submission-credentials`, {
    name: 'x',
  })
  const client = { name: 'App', redirectUris: [`https://${HOST}/back`] }
  return {
    address,
    credentialId,
    messageId: (await storeMail(stack, { mailbox: address })).messageId,
    clientId: (await created('/clients', client)).clientId,
    tokenId: (await created('/deploy-tokens', { name: 'x' })).tokenId,
    userId: decodeJwt(await stack.adminToken(HOST, 'admin')).sub ?? '',
  }
}

test('what exists is refused as what does not, except for operations', async () => {
  const routes = stack.app.routes.filter(({ method, path }) => `${method} ${path}` !== SIGN_OUT)
  const walked = (names: CalledSite['names']) => {
    const named = { ...site, names: { ...site.names, ...names } }
    return walk({ port: stack.port, routes, siteFor: () => named })
  }
  const [absent, present] = [await walked({}), await walked(existing)]
  const used = new Set(Object.keys(existing))
  const named = absent.filter(({ route }) =>
    [...route.matchAll(/:(\w+)/g)].some(([, name = '']) => used.has(name)),
  )
  expect(named.length).toBeGreaterThan(130)
  const telling = absent.filter(({ cells }, at) => {
    const found = Object.entries(present[at]?.cells ?? {})
    return found.some(([caller, cell]) => cells[caller] !== cell)
  })
  expect(telling.map(({ route }) => route)).toEqual(OPERATIONS)
})
