import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import type { CapturedMessage } from '#platform/smtp/outbox.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const send = (email: AuthEmail, host = 'one.test') =>
  stack.inSite(host, (tx, site) => stack.context.authEmails.send(tx, site, email))
const outbox = async (query = '') => (await stack.portal('GET', `/outbox${query}`)).json
const folder = () => join(stack.dataDir, 'outbox')

const code = (to: string, digits: string, host?: string) =>
  send({ kind: 'verification', pool: 'data', to, code: digits }, host)

/** Header names in lower case; folded lines joined. */
async function rawMail({ messageId }: CapturedMessage): Promise<{
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}> {
  const name = (await readdir(folder())).find((file) => file.endsWith(`${messageId}.eml`)) ?? ''
  const [head = '', ...body] = (await readFile(join(folder(), name), 'utf8')).split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map((line) => {
    const [key = '', ...value] = line.split(': ')
    return [key.toLowerCase(), value.join(': ')]
  })
  return { headers: Object.fromEntries(headers), body: body.join('\r\n\r\n') }
}

describe('a message about an account', () => {
  const to = 'kinds@example.org'
  const url = 'https://one.test/admin/public/onboarding/user?token=a-b_c'
  const expiresAt = new Date('2026-11-27T12:00:30Z')

  test.each<[AuthEmail, subject: string, words: string]>([
    [{ kind: 'invite', to, url, expiresAt }, 'Your invitation to one.test', url],
    [
      { kind: 'verification', to, pool: 'data', code: '012345' },
      '012345 is your code for one.test',
      '012345',
    ],
    [
      { kind: 'reset', to, pool: 'data', code: '543210' },
      '543210 resets your password for one.test',
      'one hour',
    ],
    [
      { kind: 'password-changed', to, pool: 'admin' },
      'Your password for one.test was changed',
      'admin account',
    ],
    [{ kind: 'account-exists', to, pool: 'data' }, 'You have an account at one.test', 'Sign in'],
    [
      { kind: 'provider-linked', to, provider: 'Google' },
      'Google was linked to your account at one.test',
      'with Google',
    ],
    [
      { kind: 'address-changed', to, pool: 'data' },
      'Your address at one.test was changed',
      'another email address',
    ],
  ])('says what it must: $kind', async (email, subject, words) => {
    await send(email)
    const message = await mailTo(stack, to, email.kind)
    const { siteId } = await stack.context.sites.find('one.test')
    expect(message).toMatchObject({
      siteId,
      siteDomain: 'one.test',
      kind: email.kind,
      to,
      from: 'no-reply@one.test',
      subject,
    })
    for (const part of [message.text, message.html]) {
      expect(part.replaceAll('&#38;', '&')).toContain(words)
      expect(part).toContain('one.test')
    }
    expect(message.html).not.toMatch(/<img|<script|<link|url\(|https?:\/\/(?!one\.test)/i)
    expect(Date.parse(message.createdAt)).toBeGreaterThan(Date.now() - 60_000)
  })

  test('carries a code and a link that tests and people find', async () => {
    await code('found@example.org', '007007')
    expect(codeIn(await mailTo(stack, 'found@example.org'))).toBe('007007')
    await send({ kind: 'invite', to: 'found@example.org', url, expiresAt })
    const invite = await mailTo(stack, 'found@example.org', 'invite')
    expect(linkIn(invite)).toBe(url)
    expect(invite.text).toContain('until Fri, 27 Nov 2026, 12:00 UTC')
  })

  test('escapes what it did not write itself', async () => {
    await send({ kind: 'provider-linked', to: 'esc@example.org', provider: '<b>"&\'' })
    const { html, subject } = await mailTo(stack, 'esc@example.org')
    expect(html).toContain('&#60;b&#62;&#34;&#38;&#39;')
    expect(html).not.toContain('<b>')
    expect(subject).toContain('<b>"&\'')
  })

  test('is a whole message that says a machine sent it', async () => {
    await send({ kind: 'provider-linked', to: 'mime@example.org', provider: 'Gööǵle' })
    const message = await mailTo(stack, 'mime@example.org')
    const { headers, body } = await rawMail(message)
    expect(headers).toMatchObject({
      from: '"one.test" <no-reply@one.test>',
      to: 'mime@example.org',
      'message-id': `<${message.messageId}@one.test>`,
      'auto-submitted': 'auto-generated',
      'x-auto-response-suppress': 'All',
      'mime-version': '1.0',
      'content-type': expect.stringMatching(/^multipart\/alternative; boundary=/),
      subject: expect.stringMatching(/^=\?UTF-8\?/),
    })
    expect(Math.floor(Date.parse(headers['date'] ?? '') / 1000)).toBe(
      Math.floor(Date.parse(message.createdAt) / 1000),
    )
    const [plain, html] = [body.indexOf('text/plain'), body.indexOf('text/html')]
    expect(plain).toBeGreaterThan(0)
    // The last alternative is the one that readers prefer.
    expect(html).toBeGreaterThan(plain)
    expect(body).toMatch(/^[\t\r\n -~]+$/)
    expect(Math.max(...body.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78)
  })

  test.each([
    ['a subject', { provider: 'X\r\nBcc: eve@evil.test\r\n\r\nHello' }],
    ['a bare line feed in one', { provider: 'X\nBcc: eve@evil.test' }],
    ['a bare return in one', { provider: 'X\rBcc: eve@evil.test' }],
  ])('cannot be given another header by %s', async (what, { provider }) => {
    const address = `${what.replaceAll(' ', '-')}@example.org`
    await send({ kind: 'provider-linked', to: address, provider })
    const { headers } = await rawMail(await mailTo(stack, address))
    expect(Object.keys(headers).toSorted()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-auto-response-suppress',
    ])
    expect(headers['subject']).toContain('Bcc: eve@evil.test')
  })

  test('does not leave with a transaction that is rolled back', async () => {
    const lost = stack.inSite('one.test', async (tx, site) => {
      await stack.context.authEmails.send(tx, site, {
        kind: 'verification',
        pool: 'data',
        to: 'rolled-back@example.org',
        code: '999999',
      })
      throw new Error('never mind')
    })
    await expect(lost).rejects.toThrow('never mind')
    await code('after@example.org', '111111')
    await mailTo(stack, 'after@example.org')
    expect(await allMailTo(stack, 'rolled-back@example.org')).toEqual([])
  })

  test('is sealed while it waits and forgotten when it has left', async () => {
    const rowOf = (recipient: string) =>
      stack.inSite('one.test', (tx, { siteId }) =>
        tx.db
          .selectFrom('outbound_message')
          .select(['status', 'sealed', 'attempts', 'error', 'finished_at'])
          .where('site_id', '=', siteId)
          .where('recipient', '=', recipient)
          .executeTakeFirstOrThrow(),
      )
    const sealed = await stack.inSite('one.test', async (tx, site) => {
      const email = {
        to: 'sealed@example.org',
        kind: 'reset',
        pool: 'data',
        code: '864209',
      } as const
      await stack.context.authEmails.send(tx, site, email)
      const row = await tx.db
        .selectFrom('outbound_message')
        .select(['status', 'sealed'])
        .where('site_id', '=', site.siteId)
        .where('recipient', '=', email.to)
        .executeTakeFirstOrThrow()
      expect(row.status).toBe('queued')
      return row.sealed
    })
    expect(sealed?.length).toBeGreaterThan(500)
    expect(sealed?.includes('864209')).toBe(false)
    await expect
      .poll(() => rowOf('sealed@example.org'))
      .toMatchObject({
        status: 'captured',
        sealed: null,
        attempts: 1,
        error: null,
        finished_at: expect.any(Date),
      })
  })

  test('is remembered for a month and no longer', async () => {
    const count = () =>
      stack.inSite('two.test', async (tx, { siteId }) => {
        const rows = await tx.db
          .selectFrom('outbound_message')
          .select('recipient')
          .where('site_id', '=', siteId)
          .where('recipient', 'like', 'old-%')
          .execute()
        return rows.map(({ recipient }) => recipient)
      })
    await code('old-one@example.org', '111111', 'two.test')
    await code('old-two@example.org', '111111', 'two.test')
    await mailTo(stack, 'old-two@example.org')
    const monthAgo = new Date(Date.now() - 31 * 24 * 3_600_000)
    await stack.inSite('two.test', (tx, { siteId }) =>
      tx.db
        .updateTable('outbound_message')
        .set({ created_at: monthAgo })
        .where('site_id', '=', siteId)
        .where('recipient', '=', 'old-one@example.org')
        .execute(),
    )
    await code('new@example.org', '111111', 'two.test')
    expect(await count()).toEqual(['old-two@example.org'])
  })
})

describe('the outbox', () => {
  test('is read page by page, newest first', async () => {
    const to = 'pages@example.org'
    for (const digits of ['000001', '000002', '000003', '000004', '000005']) {
      await code(to, digits)
      await expect.poll(async () => (await allMailTo(stack, to))[0]?.subject).toContain(digits)
    }
    const pages: string[][] = []
    const shown = 'createdAt from html kind messageId siteDomain siteId subject text to'.split(' ')
    for (let next: string | null = ''; next !== null;) {
      const { items, nextToken } = await outbox(`?to=${to}&limit=2${next && `&nextToken=${next}`}`)
      expect(Object.keys(items[0]).toSorted()).toEqual(shown)
      pages.push(items.map((item: CapturedMessage) => codeIn(item)))
      next = nextToken
    }
    expect(pages).toEqual([['000005', '000004'], ['000003', '000002'], ['000001']])
  })

  test('is narrowed to an address, and to a site by domain or id', async () => {
    const to = 'narrow@example.org'
    await code(to, '100001')
    await code(to, '200002', 'two.test')
    await expect.poll(async () => (await allMailTo(stack, to)).length).toBe(2)
    const { siteId } = await stack.context.sites.find('two.test')
    for (const site of ['two.test', siteId]) {
      const { items } = await outbox(`?to=NARROW@example.org&site=${site}`)
      expect(items).toMatchObject([{ siteDomain: 'two.test', to }])
    }
    const all = (await outbox('?limit=100')).items as CapturedMessage[]
    expect(new Set(all.map(({ siteDomain }) => siteDomain))).toEqual(
      new Set(['one.test', 'two.test']),
    )
    expect((await outbox('?to=nobody@example.org')).items).toEqual([])
  })

  test('gives a page of one list only to that list', async () => {
    const { nextToken } = await outbox('?site=one.test&limit=1')
    for (const query of ['?limit=1', '?site=two.test', '?site=one.test&to=a@b.test']) {
      const answer = await stack.portal('GET', `/outbox${query}&nextToken=${nextToken}`)
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
    }
  })

  test.each([
    ['a site that does not exist', '?site=nowhere.test', 404, 'SiteNotFound'],
    ['a limit of nothing', '?limit=0', 400, 'ValidationError'],
    ['a limit that is no number', '?limit=many', 400, 'ValidationError'],
    ['a long address', `?to=${'a'.repeat(255)}`, 400, 'ValidationError'],
    ['a token from nowhere', '?nextToken=AAAA', 400, 'InvalidNextToken'],
  ])('refuses %s', async (_what, query, status, code) => {
    expect(await stack.portal('GET', `/outbox${query}`)).toMatchObject({
      status,
      json: { error: { code } },
    })
  })

  test('is the operator’s alone, and in no cache', async () => {
    const token = await stack.adminToken('one.test')
    expect((await stack.call('one.test', 'GET', '/portal/api/outbox', { token })).status).toBe(401)
    const { headers } = await stack.portal('GET', '/outbox')
    expect(headers['cache-control']).toBe('no-store')
  })

  test('is in files that only its owner reads', async () => {
    expect((await stat(folder())).mode & 0o777).toBe(0o700)
    const files = await readdir(folder())
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) expect((await stat(join(folder(), file))).mode & 0o777).toBe(0o600)
  })

  test('loses a site’s messages with the site, and no others', async () => {
    await stack.createSite({ domain: 'gone.test', superAdmins: [] })
    await code('leaver@example.org', '123456', 'gone.test')
    await code('stayer@example.org', '123456')
    await mailTo(stack, 'leaver@example.org')
    await mailTo(stack, 'stayer@example.org')
    await stack.portal('DELETE', '/sites/gone.test?confirm=true')
    await expect.poll(() => allMailTo(stack, 'leaver@example.org')).toEqual([])
    expect(await allMailTo(stack, 'stayer@example.org')).toHaveLength(1)
  })
})
