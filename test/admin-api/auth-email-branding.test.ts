import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import { mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATH = '/admin/api/auth-email-branding'
const BRANDED = {
  subject: 'Your {{code}} for us',
  htmlBody: '<h1>Hi</h1><p>It is <b>{{code}}</b></p>',
}
const NONE = { adminVerificationEmail: null, dataVerificationEmail: null }

let stack: Stack
let tokens: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  tokens = {
    'one.test': await stack.adminToken('one.test'),
    'two.test': await stack.adminToken('two.test'),
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (host = 'one.test') => stack.call(host, 'GET', PATH, { token: tokens[host] })
const put = (body: unknown, host = 'one.test', token = tokens[host]) =>
  stack.call(host, 'PUT', PATH, { token, body, headers: { 'content-type': 'application/json' } })
const send = (email: AuthEmail, host = 'one.test') =>
  stack.inSite(host, (tx, site) => stack.context.authEmails.send(tx, site, email))

describe('auth-email branding', () => {
  test('starts with nothing, and says which messages can have one', async () => {
    const { siteId } = await stack.context.sites.find('two.test')
    expect((await get('two.test')).json).toEqual({
      siteId,
      authEmailBranding: NONE,
      messageTypes: ['adminVerificationEmail', 'dataVerificationEmail'],
    })
  })

  test('keeps what is left out of a PUT, and gives up what is null', async () => {
    const { siteId } = await stack.context.sites.find('one.test')
    const admin = { subject: 'Admin', htmlBody: '{{code}}' }
    expect(await put({ adminVerificationEmail: admin })).toMatchObject({
      status: 200,
      json: { siteId, authEmailBranding: { ...NONE, adminVerificationEmail: admin } },
    })
    const both = { adminVerificationEmail: admin, dataVerificationEmail: BRANDED }
    expect((await put({ dataVerificationEmail: BRANDED })).json.authEmailBranding).toEqual(both)
    expect((await put({})).json.authEmailBranding).toEqual(both)
    expect((await get()).json.authEmailBranding).toEqual(both)
    const other = { subject: 'Other', htmlBody: '<i>{{code}}</i>' }
    const change = { adminVerificationEmail: null, dataVerificationEmail: other }
    expect((await put(change)).json.authEmailBranding).toEqual(change)
    expect((await get()).json.authEmailBranding).toEqual(change)
  })

  test('is a site’s own', async () => {
    await put({ dataVerificationEmail: BRANDED })
    expect((await get('two.test')).json.authEmailBranding).toEqual(NONE)
    await put({ dataVerificationEmail: { subject: 'Two', htmlBody: '{{code}}' } }, 'two.test')
    expect((await get()).json.authEmailBranding.dataVerificationEmail).toEqual(BRANDED)
    const to = 'both@example.org'
    for (const host of ['one.test', 'two.test']) {
      await send({ kind: 'verification', pool: 'data', to, code: '424242' }, host)
    }
    await expect
      .poll(async () => (await stack.portal('GET', `/outbox?to=${to}`)).json.items.length)
      .toBe(2)
    const { items } = (await stack.portal('GET', `/outbox?to=${to}`)).json
    expect(
      Object.fromEntries(
        items.map((item: Record<string, string>) => [item['siteDomain'], item['subject']]),
      ),
    ).toEqual({ 'one.test': 'Your 424242 for us', 'two.test': 'Two' })
    await put(NONE, 'two.test')
  })

  test.each(['verification', 'reset'] as const)('dresses the %s code', async (kind) => {
    await put({
      dataVerificationEmail: { ...BRANDED, htmlBody: `${BRANDED.htmlBody}<hr>{{code}} &amp; out` },
    })
    const to = `${kind}@example.org`
    await send({ kind, pool: 'data', to, code: '135790' })
    expect(await mailTo(stack, to, kind)).toMatchObject({
      subject: 'Your 135790 for us',
      html: '<h1>Hi</h1><p>It is <b>135790</b></p><hr>135790 &amp; out',
      text: 'Hi\n\nIt is 135790\n\n135790 & out\n\n-- \none.test',
    })
  })

  test('dresses the codes of one pool alone, and no other message', async () => {
    await put({ dataVerificationEmail: BRANDED, adminVerificationEmail: null })
    await send({ kind: 'verification', pool: 'admin', to: 'other@example.org', code: '111222' })
    const code = await mailTo(stack, 'other@example.org', 'verification')
    expect(code.subject).toBe('111222 is your code for one.test')
    await send({ kind: 'password-changed', pool: 'data', to: 'other@example.org' })
    const notice = await mailTo(stack, 'other@example.org', 'password-changed')
    expect(notice.html).not.toContain('<h1>Hi</h1>')
  })

  test('writes the code into the text even when the HTML hides it in a link', async () => {
    await put({
      dataVerificationEmail: {
        subject: 'Link',
        htmlBody: '<a data-code="{{code}}" href="/x">Go</a>',
      },
    })
    await send({ kind: 'verification', pool: 'data', to: 'link@example.org', code: '777888' })
    const { text } = await mailTo(stack, 'link@example.org')
    expect(text).toBe('Go\n\n777888\n\n-- \none.test')
  })

  test('takes the longest subject and HTML', async () => {
    const longest = {
      subject: 's'.repeat(140),
      htmlBody: `{{code}}${'<p>é</p>'.repeat(3000)}`.slice(0, 20_000),
    }
    expect((await put({ dataVerificationEmail: longest })).status).toBe(200)
    await send({ kind: 'reset', pool: 'data', to: 'long@example.org', code: '101010' })
    expect((await mailTo(stack, 'long@example.org')).html).toBe(
      longest.htmlBody.replace('{{code}}', '101010'),
    )
  })

  test.each([
    ['no placeholder', { htmlBody: '<p>Hello</p>' }, 'MissingPlaceholder', 'htmlBody'],
    ['another placeholder', { htmlBody: '{{ code }}' }, 'MissingPlaceholder', 'htmlBody'],
    ['an empty HTML', { htmlBody: '  ' }, 'ValidationError', 'htmlBody'],
    ['a long HTML', { htmlBody: `{{code}}${'x'.repeat(19_993)}` }, 'ValidationError', 'htmlBody'],
    ['a NUL', { htmlBody: '{{code}}\0' }, 'ValidationError', 'htmlBody'],
    ['half a pair', { htmlBody: '{{code}}\ud800' }, 'ValidationError', 'htmlBody'],
    ['an empty subject', { subject: '' }, 'ValidationError', 'subject'],
    ['a long subject', { subject: 's'.repeat(141) }, 'ValidationError', 'subject'],
    ['a second header', { subject: 'Hi\r\nBcc: eve@evil.test' }, 'ValidationError', 'subject'],
    ['a bare line feed', { subject: 'Hi\nBcc: eve@evil.test' }, 'ValidationError', 'subject'],
    ['a bare return', { subject: 'Hi\rthere' }, 'ValidationError', 'subject'],
    ['a line separator', { subject: 'Hi\u2028there' }, 'ValidationError', 'subject'],
  ])('refuses %s, and then changes nothing', async (_what, part, code, field) => {
    await put({ adminVerificationEmail: null, dataVerificationEmail: BRANDED })
    const answer = await put({
      adminVerificationEmail: { subject: 'New', htmlBody: '{{code}}' },
      dataVerificationEmail: { ...BRANDED, ...part },
    })
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { code, details: [{ field: `dataVerificationEmail.${field}` }] } },
    })
    expect((await get()).json.authEmailBranding).toEqual({
      ...NONE,
      dataVerificationEmail: BRANDED,
    })
  })

  test.each([
    ['text', '"x"'],
    ['a message without HTML', { dataVerificationEmail: { subject: 'x' } }],
    ['a number', { dataVerificationEmail: { subject: 1, htmlBody: '{{code}}' } }],
    ['a message with more', { dataVerificationEmail: { ...BRANDED, from: 'eve@evil.test' } }],
    ['another message', { inviteEmail: BRANDED }],
  ])('refuses %s', async (_what, body) => {
    expect(await put(body)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError' } },
    })
  })

  test.each(['admin', 'user'] as const)('is not for a caller who is %s', async (role) => {
    const token = await stack.adminToken('one.test', role)
    const refused = { status: 403, json: { error: { code: 'Forbidden' } } }
    expect(await stack.call('one.test', 'GET', PATH, { token })).toMatchObject(refused)
    expect(await put({}, 'one.test', token)).toMatchObject(refused)
  })

  test('leaves a trace of who changed what', async () => {
    const event = 'branding.changed'
    const eventsNow = () =>
      stack.inSite('one.test', (tx, { siteId }) =>
        tx.db
          .selectFrom('security_event')
          .select(['pool', 'actor', 'detail'])
          .where('site_id', '=', siteId)
          .where('event', '=', event)
          .execute(),
      )
    const before = (await eventsNow()).length
    await put({ adminVerificationEmail: BRANDED, dataVerificationEmail: null })
    const added = (await eventsNow()).slice(before)
    expect(added).toHaveLength(2)
    expect(added).toEqual(
      expect.arrayContaining([
        {
          pool: 'admin',
          actor: expect.any(String),
          detail: { messageType: 'adminVerificationEmail', cleared: false },
        },
        {
          pool: 'data',
          actor: expect.any(String),
          detail: { messageType: 'dataVerificationEmail', cleared: true },
        },
      ]),
    )
  })
})
