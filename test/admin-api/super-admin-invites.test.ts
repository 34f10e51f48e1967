import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

let sites = 0
let domain: string
let pool: AdminPool
/** A super-admin who has come; beside her `ann` and `bob`, who have not. */
let sue: Member
beforeEach(async () => {
  domain = `site-${++sites}.test`
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`, `bob@${domain}`] })
  pool = new AdminPool(stack, domain)
  sue = await pool.joined('super-admin')
})

const resend = (body?: unknown, by = sue) =>
  by.call('POST', '/super-admin-invites/resend', body === undefined ? {} : { body })
const inviteOf = (name: string) => mailTo(stack, `${name}@${domain}`, 'invite')

describe('a new site', () => {
  test('mails its super-admins the links that its operator is shown', async () => {
    const email = 'eva@mailed.test'
    const { onboarding } = await stack.createSite({ domain: 'mailed.test', superAdmins: [email] })
    expect(onboarding).toEqual([{ email, url: expect.any(String) }])
    expect(linkIn(await mailTo(stack, email, 'invite'))).toBe(onboarding[0]?.url)
    const { json } = await stack.portal('GET', '/sites/mailed.test/audit?event=invite.sent')
    expect(json.items).toMatchObject([{ actor: 'operator', email }])
  })
})

describe('sending invitations of super-admins again', () => {
  test.each([
    ['no body', undefined],
    ['no list', {}],
    ['an empty list', { superAdminEmails: [] }],
  ])('with %s reaches all who have not come', async (_what, body) => {
    const before = [await inviteOf('ann'), await inviteOf('bob')]
    expect(await resend(body)).toMatchObject({
      status: 200,
      json: { matchedCount: 2, resentCount: 2, status: 'sent' },
    })
    for (const mail of before) {
      const again = await mailTo(stack, mail.to, 'invite', mail)
      expect(linkIn(again)).toContain('/admin/public/onboarding/super-admin?token=')
      const pages = [await pool.pageStatus(linkIn(mail)), await pool.pageStatus(linkIn(again))]
      expect(pages).toEqual([410, 200])
    }
    expect(await allMailTo(stack, sue.email)).toHaveLength(1)
  })

  test('reaches those who are named, in any spelling, once each', async () => {
    const bob = await inviteOf('bob')
    const superAdminEmails = [`ann@${domain}`, `ANN@${domain}`, 'nobody@x.test', sue.email]
    expect((await resend({ superAdminEmails })).json).toMatchObject({
      matchedCount: 1,
      resentCount: 1,
    })
    await mailTo(stack, `ann@${domain}`, 'invite', (await allMailTo(stack, `ann@${domain}`)).at(-1))
    expect(await pool.pageStatus(linkIn(bob))).toBe(200)
  })

  test('finds a user by the external address, and writes there', async () => {
    const externalEmail = `cat@out-${sites}.test`
    await pool.invited({ role: 'super-admin', externalEmail })
    const before = await mailTo(stack, externalEmail, 'invite')
    expect((await resend({ superAdminEmails: [externalEmail] })).json.matchedCount).toBe(1)
    await mailTo(stack, externalEmail, 'invite', before)
  })

  test('leaves out those who have come, other roles, and other sites', async () => {
    const admin = await pool.invited({ role: 'admin' })
    const other = `site-${sites - 1 || 1}-other.test`
    await stack.createSite({ domain: other, superAdmins: [`eve@${other}`] })
    const superAdminEmails = [sue.email, admin.email, `eve@${other}`]
    expect((await resend({ superAdminEmails })).json).toEqual({
      matchedCount: 0,
      resentCount: 0,
      status: 'sent',
    })
  })

  test('leaves one good link each when it is asked twice at once', async () => {
    const answers = await Promise.all([resend(), resend(), resend()])
    expect(answers.map(({ json }) => json.resentCount)).toEqual([2, 2, 2])
    const mails = await expect
      .poll(() => allMailTo(stack, `ann@${domain}`, 'invite'), { timeout: 20_000 })
      .toHaveLength(4)
      .then(() => allMailTo(stack, `ann@${domain}`, 'invite'))
    const pages = await Promise.all(mails.map((mail) => pool.pageStatus(linkIn(mail))))
    expect(pages.filter((status) => status === 200)).toHaveLength(1)
  })

  test('is written down', async () => {
    await resend({ superAdminEmails: [`bob@${domain}`] })
    const { json } = await stack.portal('GET', `/sites/${domain}/audit?event=invite.sent&limit=1`)
    expect(json.items).toMatchObject([{ email: `bob@${domain}`, actor: sue.userId }])
  })

  test.each([
    ['an address that is none', { superAdminEmails: ['x'] }, 400, 'ValidationError'],
    [
      'more than a hundred',
      { superAdminEmails: Array(101).fill('a@b.test') },
      400,
      'ValidationError',
    ],
    ['text', { superAdminEmails: 'a@b.test' }, 400, 'ValidationError'],
    ['a field that is not known', { emails: [] }, 400, 'ValidationError'],
    ['no JSON', '{"superAdminEmails": ["a@b.test"', 400, 'InvalidJson'],
    ['null', 'null', 400, 'ValidationError'],
  ])('is refused with %s', async (_what, body, status, code) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await sue.call('POST', '/super-admin-invites/resend', { body, headers })
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('is refused for a list without a JSON type', async () => {
    const body = JSON.stringify({ superAdminEmails: [`bob@${domain}`] })
    for (const headers of [{}, { 'content-type': 'text/plain' }]) {
      const answer = await sue.call('POST', '/super-admin-invites/resend', { body, headers })
      expect(answer.json.error.code).toBe('UnsupportedMediaType')
    }
  })

  test.each(['user', 'admin'] as const)('is refused to a %s', async (role) => {
    expect(await resend(undefined, await pool.joined(role))).toMatchObject({
      status: 403,
      json: { error: { code: 'Forbidden' } },
    })
  })
})
