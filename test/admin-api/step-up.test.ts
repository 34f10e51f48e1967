import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

/** The second has its administration on a name of its own. */
const SITES = [
  { host: 'one.test', at: 'one.test' },
  { host: 'two.test', at: 'admin.two.test' },
]
const MINUTE_MS = 60_000

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('an admin whose sign-in is old, %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    const sites = SITES.map(({ host }) => host)
    stack = await startStack({ sites, ...(baseUrl && { config: { baseUrl } }) })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    await stack.portal('PATCH', '/sites/two.test', { adminDomain: 'admin.two.test' })
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  /** A token of the site's super-admin, of a sign-in that long ago. */
  async function signedIn(host: string, minutesAgo: number): Promise<string> {
    const party = await RelyingParty.of(stack, host, 'admin')
    const authTime = new Date(Date.now() - minutesAgo * MINUTE_MS)
    const { code } = await party.signIn(await party.user(`ann@${host}`), { authTime })
    return (await party.exchange(code)).json.access_token
  }

  describe.each(SITES)('at $at', ({ host, at }) => {
    const box = `box@${host}`
    beforeAll(() =>
      stack.portal('POST', `/sites/${host}/mailboxes`, { address: box, owners: [`ann@${host}`] }),
    )

    test.each([
      ['PUT', '/admin/data/env-vars', { variables: { KEY: { value: 'v', secret: true } } }, 200],
      ['DELETE', '/admin/data/env-vars', undefined, 200],
      ['POST', '/admin/api/deploy-tokens', { name: 'ci' }, 200],
      ['POST', `/admin/api/mailboxes/${box}/submission-credentials`, { name: 'phone' }, 200],
      ['POST', '/admin/api/users', { email: `max@${host}`, role: 'admin' }, 200],
      ['POST', '/admin/api/users', { email: `sue@${host}`, role: 'super-admin' }, 200],
    ])('may not %s %s before another one', async (method, path, body, status) => {
      const [old, fresh] = [await signedIn(host, 16), await signedIn(host, 14)]
      const refused = await stack.call(at, method, path, { token: old, body })
      expect(refused).toMatchObject({
        status: 403,
        json: {
          error: { code: 'RecentSignInRequired', message: expect.stringContaining('max_age') },
        },
      })
      const answer = await stack.call(at, method, path, { token: fresh, body })
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status })
    })

    test.each([
      ['GET', '/admin/data/env-vars', undefined],
      ['GET', '/admin/api/deploy-tokens', undefined],
      ['GET', `/admin/api/mailboxes/${box}/submission-credentials`, undefined],
      ['POST', '/admin/api/users', { email: `user@${host}`, role: 'user' }],
      ['GET', '/admin/api/profile', undefined],
    ])('may still %s %s', async (method, path, body) => {
      const token = await signedIn(host, 55)
      expect((await stack.call(at, method, path, { token, body })).status).toBe(200)
    })

    test('gets nothing of it by a refresh', async () => {
      const party = await RelyingParty.of(stack, host, 'admin')
      const authTime = new Date(Date.now() - 16 * MINUTE_MS)
      const { code } = await party.signIn(await party.user(`ann@${host}`), { authTime })
      const { refresh_token } = (await party.exchange(code)).json
      const { access_token: token } = (await party.refresh(refresh_token)).json
      const answer = await stack.call(at, 'DELETE', '/admin/data/env-vars', { token })
      expect(answer).toMatchObject({
        status: 403,
        json: { error: { code: 'RecentSignInRequired' } },
      })
    })

    test('learns of their role before of their sign-in', async () => {
      const token = await stack.adminToken(host, 'user')
      const answer = await stack.call(at, 'DELETE', '/admin/data/env-vars', { token })
      expect(answer).toMatchObject({ status: 403, json: { error: { code: 'Forbidden' } } })
    })
  })
})
