import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser, hiddenFields, textOf } from '#test/form-browser.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const PASSWORD = 'Correct-horse-7'
const PAGE = '/admin/public/onboarding/super-admin'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: ['empty.test'] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const browser = (host: string) => new FormBrowser(stack, host)

/** A site of its own, and the link with which its super-admin comes. */
async function invited(domain: string): Promise<{ path: string; token: string }> {
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  const url = new URL(linkIn(await mailTo(stack, `ann@${domain}`, 'invite')))
  return { path: `${url.pathname}${url.search}`, token: url.searchParams.get('token') ?? '' }
}

/** Makes the invites of a site a week older. */
const age = (domain: string) =>
  asSuperuser(
    stack,
    (sql) => sql`
      update user_invite set expires_at = expires_at - interval '8 days'
      where site_id = (select site_id from site where domain = ${domain})`,
  )

const linksOf = (page: string): (string | undefined)[] =>
  [...page.matchAll(/<a class="button[^"]*" href="([^"]*)"/g)].map((found) => found[1])

const both = (password: string) => ({ password, confirmPassword: password })

describe('the page of an invite', () => {
  test('is HTML for its recipient, and can be looked at again and again', async () => {
    const { path, token } = await invited('look.test')
    for (let visit = 0; visit < 3; visit++) {
      const { status, headers, text } = await browser('look.test').get(path)
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'strict-origin',
      })
      expect(headers['content-security-policy']).toContain("form-action 'self';")
      expect(textOf(text)).toContain('a super-admin of look.test')
      expect(text).toContain('value="ann@look.test"')
      expect(hiddenFields(text)).toMatchObject({ token })
    }
  })

  test('sends its form to an address without the token', async () => {
    const { path, token } = await invited('clean.test')
    const { text } = await browser('clean.test').get(path)
    expect(text).toContain(`<form method="post" action="${PAGE}">`)
    expect(text.split(token)).toHaveLength(2)
  })

  test('sets the password, after which the link is used and the password signs in', async () => {
    const { path } = await invited('take.test')
    const visitor = browser('take.test')
    const page = await visitor.get(path)
    const done = await visitor.submit(page, both(PASSWORD))
    expect(done.status).toBe(200)
    expect(textOf(done.text)).toContain('Your account is ready')
    expect(done.text).toContain(`href="${stack.baseUrl('take.test')}/admin"`)
    expect(done.text).not.toContain(PASSWORD)

    for (const answer of [
      await visitor.get(path),
      await visitor.submit(page, both('Other-horse-8')),
    ]) {
      expect(answer.status).toBe(410)
      expect(textOf(answer.text)).toContain('This link was used already')
      expect(linksOf(answer.text)).toEqual([`${stack.baseUrl('take.test')}/admin`, '/'])
    }
    const client = await RelyingParty.of(stack, 'take.test', 'admin')
    const login = await visitor.get(client.page('login'))
    const signedIn = await visitor.submit(login, { username: 'ann@take.test', password: PASSWORD })
    const code = new URL(signedIn.headers['location'] ?? '').searchParams.get('code') ?? ''
    const { access_token: token } = (await client.exchange(code)).json
    const profile = await stack.call('take.test', 'GET', '/admin/api/profile', { token })
    expect(profile.json).toMatchObject({ primaryEmail: 'ann@take.test' })
  })

  test('also serves users and admins, at their own address', async () => {
    await invited('user.test')
    const token = await stack.adminToken('user.test')
    const invitation = { token, body: { email: 'uma@user.test', role: 'user' } }
    await stack.call('user.test', 'POST', '/admin/api/users', invitation)
    const url = new URL(linkIn(await mailTo(stack, 'uma@user.test', 'invite')))
    expect(url.pathname).toBe('/admin/public/onboarding/user')
    const visitor = browser('user.test')
    const page = await visitor.get(`${url.pathname}${url.search}`)
    expect(textOf(page.text)).toContain('a user of user.test')
    expect((await visitor.submit(page, both(PASSWORD))).status).toBe(200)
  })

  test.each([
    ['nothing', { password: '', confirmPassword: '' }, 'password', 'Enter a password'],
    [
      'two passwords',
      { password: PASSWORD, confirmPassword: 'Other-horse-8' },
      'confirmPassword',
      'not the same',
    ],
    ['a simple password', both('simple'), 'password', ''],
    ['a common password', both('Password1!'), 'password', ''],
  ])(
    'shows %s again with the fault, and leaves the link as it is',
    async (what, fields, at, words) => {
      const domain = `fault-${what.replaceAll(' ', '-')}.test`
      const { path } = await invited(domain)
      const visitor = browser(domain)
      const answer = await visitor.submit(await visitor.get(path), fields)
      expect(answer.status).toBe(400)
      expect(answer.headers['content-type']).toContain('text/html')
      expect(answer.text).toContain(`id="${at}-fault"`)
      expect(textOf(answer.text)).toContain(words)
      for (const secret of Object.values(fields)) {
        expect(answer.text).not.toContain(`value="${secret}"`)
      }
      expect((await visitor.get(path)).status).toBe(200)
    },
  )

  test.each([
    ['without a token', '', 400, 'MissingToken'],
    ['with an empty token', '?token=', 400, 'MissingToken'],
    ['with an unknown token', `?token=${'x'.repeat(43)}`, 410, 'LinkExpired'],
    ['with a token that is too long', `?token=${'x'.repeat(5_000)}`, 400, 'ValidationError'],
  ])('%s is an error page', async (_what, query, status, code) => {
    const answer = await browser('empty.test').get(`${PAGE}${query}`)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.text).toContain(code)
    expect(answer.text).toContain(answer.headers['x-request-id'])
  })

  test('that is too old is sent again, to its recipient, when its holder asks', async () => {
    const { path } = await invited('old.test')
    const first = await mailTo(stack, 'ann@old.test', 'invite')
    await age('old.test')
    const visitor = browser('old.test')
    const page = await visitor.get(path)
    expect(page.status).toBe(410)
    expect(textOf(page.text)).toContain('This link is too old')
    const sent = await visitor.submit(page, {})
    expect(sent.status).toBe(200)
    expect(textOf(sent.text)).toContain('If the invite is still valid')
    const url = new URL(linkIn(await mailTo(stack, 'ann@old.test', 'invite', first)))
    const fresh = await visitor.get(`${url.pathname}${url.search}`)
    expect((await visitor.submit(fresh, both(PASSWORD))).status).toBe(200)
  })

  test('that is used, or unknown, is not sent again, and the response is the same', async () => {
    const { path, token } = await invited('spent.test')
    const visitor = browser('spent.test')
    await visitor.submit(await visitor.get(path), both(PASSWORD))
    const before = await allMailTo(stack, 'ann@spent.test')
    const answers = []
    for (const each of [token, 'x'.repeat(43), '']) {
      const body = new URLSearchParams({ token: each, action: 'renew' }).toString()
      answers.push(await visitor.post(PAGE, body))
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await allMailTo(stack, 'ann@spent.test')).toEqual(before)
  })

  test('is not sent again more often than mail may be requested', async () => {
    await invited('often.test')
    let last = await mailTo(stack, 'ann@often.test', 'invite')
    const statuses = []
    for (let count = 0; count < 7; count += 1) {
      await age('often.test')
      const token = new URL(linkIn(last)).searchParams.get('token') ?? ''
      const body = new URLSearchParams({ token, action: 'renew' }).toString()
      const { status } = await browser('often.test').post(PAGE, body)
      statuses.push(status)
      if (status === 200) last = await mailTo(stack, 'ann@often.test', 'invite', last)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  })

  test('says at once what is wrong with both fields', async () => {
    const { path } = await invited('twice.test')
    const visitor = browser('twice.test')
    const fields = { password: 'simple', confirmPassword: 'other' }
    const answer = await visitor.submit(await visitor.get(path), fields)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('id="password-fault"')
    expect(answer.text).toContain('id="confirmPassword-fault"')
  })

  test('leads on from every page', async () => {
    const { path } = await invited('onward.test')
    const visitor = browser('onward.test')
    const app = `${stack.baseUrl('onward.test')}/admin`
    const done = await visitor.submit(await visitor.get(path), both(PASSWORD))
    expect(linksOf(done.text)).toEqual([app, '/'])
    expect(linksOf((await visitor.get(`${PAGE}?token=${'x'.repeat(43)}`)).text)).toEqual(['/'])
    const administration = await stack.call('onward.test', 'GET', '/admin', {
      headers: { accept: 'text/html' },
    })
    const home = stack.baseUrl('onward-test.console.localhost')
    expect(administration.headers['location']).toBe(`${home}/`)
    expect(linksOf((await visitor.get(PAGE)).text)).toEqual(['/'])
  })

  test('of another site is no invite here', async () => {
    const { path } = await invited('mine.test')
    await invited('yours.test')
    expect((await browser('yours.test').get(path)).status).toBe(410)
  })

  test('does not take the form of another site', async () => {
    const { path } = await invited('csrf.test')
    const page = await browser('csrf.test').get(path)
    const foreign = await browser('csrf.test').submit(page, both(PASSWORD), {
      origin: 'https://evil.test',
    })
    expect(foreign.status).toBe(403)
    expect((await browser('csrf.test').get(path)).status).toBe(200)
  })

  test('takes its three fields from a program that has not seen the page', async () => {
    const { path } = await invited('script.test')
    const token = new URL(path, 'http://script.test').searchParams.get('token') ?? ''
    const answer = await stack.call('script.test', 'POST', PAGE, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token, ...both(PASSWORD) }).toString(),
    })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('Your account is ready')
    expect((await browser('script.test').get(path)).status).toBe(410)
  })
})
