import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { pageScript } from '#http/oidc/pages/script.ts'
import { FormBrowser, hiddenFields, textOf } from '#test/form-browser.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PAGES = ['login', 'signup', 'forgotPassword']

let stack: Stack
let client: RelyingParty
let admin: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
  admin = await RelyingParty.of(stack, 'one.test', 'admin')
})
afterAll(() => stack[Symbol.asyncDispose]())

const browser = () => new FormBrowser(stack, 'one.test')

const setUpGoogle = (enabled: boolean) =>
  stack.portal('PUT', '/sites/two.test/auth/providers/google', {
    clientId: 'two.apps.googleusercontent.test',
    clientSecret: 'secret',
    enabled,
  })

describe('every page', () => {
  test.each(PAGES)(
    '%s is HTML that carries no script but ours, and admits no other',
    async (name) => {
      const { status, headers, text } = await browser().get(client.page(name))
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      const script = /<script>([\s\S]*?)<\/script>/.exec(text)?.[1]
      // Only where there are passwords to show, or passkeys.
      expect(script).toBe(name === 'login' || name === 'signup' ? pageScript : undefined)
      const scriptHash = script && createHash('sha256').update(script).digest('base64')
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; ${scriptHash ? `script-src 'sha256-${scriptHash}'; ` : ''}style-src 'sha256-${hash}'; img-src data:; ` +
          `form-action 'self'${name === 'login' ? ` ${stack.baseUrl('one.test')}` : ''}; ` +
          "frame-ancestors 'none'; base-uri 'none'",
      )
      expect(text.replace(`<script>${script}</script>`, '')).not.toMatch(
        /<script|javascript:|\son\w+=|style="/i,
      )
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'strict-origin',
      })
    },
  )

  test.each(PAGES)('%s is cheap to send', async (name) => {
    const { bytes } = await browser().get(client.page(name))
    expect(bytes.byteLength).toBeLessThan(16 * 1024)
  })

  test.each(PAGES)('%s names the site and itself', async (name) => {
    const { text } = await browser().get(client.page(name))
    expect(text).toMatch(/<title>[^<]+ · one\.test<\/title>/)
    expect(text).toMatch(/<html lang="en">/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(textOf(text)).toContain('one.test')
  })

  test.each(PAGES)('%s gives every field a label and a purpose', async (name) => {
    const { text } = await browser().get(client.page(name))
    const inputs = [...text.matchAll(/<input\s[^>]*>/g)].map(([input]) => input)
    const shown = inputs.filter((input) => !input.includes('hidden'))
    expect(shown.length).toBeGreaterThan(0)
    for (const input of shown) {
      const id = / id="([^"]+)"/.exec(input)?.[1]
      expect(text).toContain(`<label for="${id}">`)
      expect(input).toMatch(
        /autocomplete="(?:username|username webauthn|current-password|new-password|one-time-code)"/,
      )
    }
  })
})

describe('the sign-in page', () => {
  test('offers an account where strangers may sign up, and not to admins', async () => {
    expect(textOf((await browser().get(client.page('login'))).text)).toContain('Create one')
    const page = await browser().get(admin.page('login'))
    expect(textOf(page.text)).not.toContain('Create one')
    expect(textOf(page.text)).toContain('the administration of one.test')
  })

  test('has a way to Google where one is set up and enabled, and carries the request there', async () => {
    const page = (host: string) => async () => {
      const at = await RelyingParty.of(stack, host)
      const { text } = await new FormBrowser(stack, host).get(at.page('login'))
      return { at, text }
    }
    expect((await page('two.test')()).text).not.toContain('Google')
    expect((await setUpGoogle(false)).status).toBe(200)
    expect((await page('two.test')()).text).not.toContain('Google')
    await setUpGoogle(true)
    const { at, text } = await page('two.test')()
    const href = /<a class="button plain" href="([^"]+)">/.exec(text)?.[1] ?? ''
    const link = new URL(href.replaceAll('&#38;', '&'), at.pool.issuer)
    expect(link.pathname).toBe(`${at.path}/oauth2/authorize`)
    expect(link.searchParams.get('identity_provider')).toBe('Google')
    expect(link.searchParams.get('state')).toBe('st-1')
    expect((await page('one.test')()).text).not.toContain('Google')
    const signUp = await new FormBrowser(stack, 'two.test').get(at.page('signup'))
    expect(signUp.text).toContain(`<a class="button plain" href="${href}">`)
  })

  test('lets the answer to its form lead where the client is, and nowhere else', async () => {
    const redirectUris = ['http://localhost:3000/callback', 'com.acme.app:/signed-in']
    await stack.portal('PATCH', '/sites/two.test/auth', {
      data: { clients: { default: { redirectUris } } },
    })
    const at = await RelyingParty.of(stack, 'two.test')
    const targets = async (redirect_uri: string) => {
      const { headers } = await new FormBrowser(stack, 'two.test').get(
        at.page('login', { redirect_uri }),
      )
      return /form-action ([^;]+);/.exec(headers['content-security-policy'] ?? '')?.[1]
    }
    expect(await targets('http://localhost:3000/callback')).toBe("'self' http://localhost:3000")
    expect(await targets('com.acme.app:/signed-in')).toBe("'self' com.acme.app:")
  })

  test('gives the client for linking nothing to sign in with', async () => {
    await setUpGoogle(true)
    const at = await RelyingParty.of(stack, 'two.test')
    const { data } = (await stack.portal('GET', '/sites/two.test/auth')).json
    const arrive = async (changes: Record<string, string>) => {
      const page = at.page('login', { client_id: data.clients.link.clientId, ...changes })
      return (await new FormBrowser(stack, 'two.test').get(page)).headers['location']
    }
    expect(await arrive({})).toContain('error=unauthorized_client')
    expect(await arrive({ identity_provider: 'Google' })).toContain(`${at.path}/oauth2/authorize?`)
  })

  test('knows the address that the client hints at', async () => {
    const { text } = await browser().get(client.page('login', { login_hint: '"><b>@x.test' }))
    expect(text).toContain('value="&#34;&#62;&#60;b&#62;@x.test"')
    expect(text).not.toContain('<b>@x')
  })
})

describe('the sign-up page of admins', () => {
  test('is not there', async () => {
    const answer = await browser().get(admin.page('signup'))
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('SignUpDisabled')
  })
})

describe('a page whose client asks for something wrong', () => {
  test.each([
    ['an unknown client', { client_id: 'x'.repeat(26) }],
    ['a foreign redirect', { redirect_uri: 'https://evil.test/' }],
  ])('(%s) stays here', async (_what, changes) => {
    const answer = await browser().get(client.page('login', changes))
    expect(answer.status).toBe(400)
    expect(answer.headers['location']).toBeUndefined()
    expect(textOf(answer.text)).toContain('This sign-in cannot go on')
    expect(answer.text).toContain(answer.headers['x-request-id'])
  })

  test('tells the client when it can', async () => {
    const answer = await browser().get(client.page('login', { code_challenge_method: 'plain' }))
    expect(answer.status).toBe(303)
    const location = new URL(answer.headers['location'] ?? '')
    expect(location.href.startsWith(client.redirectUri)).toBe(true)
    expect(location.searchParams.get('error')).toBe('invalid_request')
  })
})

describe('a form', () => {
  const fields = { username: 'a@x.test', password: 'Wrong-password-1' }

  test.each([
    ['from another site', { origin: 'https://evil.test' }],
    ['from a site that hides itself', { origin: 'null' }],
    ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbouring domain', { 'sec-fetch-site': 'same-site' }],
    [
      'from another site with our origin',
      { 'sec-fetch-site': 'cross-site', origin: 'http://one.test' },
    ],
  ])('%s is refused', async (_what, headers) => {
    const visitor = browser()
    const answer = await visitor.submit(await visitor.get(client.page('login')), fields, headers)
    expect(answer.status).toBe(403)
    expect(textOf(answer.text)).toContain('This form was sent from another site')
    expect(answer.text).not.toContain(fields.password)
  })

  test.each([
    ['without its token', (page: Record<string, string>) => ({ ...page, _csrf: '' })],
    [
      'with a changed token',
      (page: Record<string, string>) => ({ ...page, _csrf: `${page['_csrf']?.slice(0, -2)}xx` }),
    ],
  ])('%s is shown again, and does nothing', async (_what, change) => {
    const visitor = browser()
    const page = await visitor.get(client.page('login'))
    const answer = await visitor.submit(page, { ...change(hiddenFields(page.text)), ...fields })
    expect(answer.status).toBe(403)
    expect(textOf(answer.text)).toContain('Please try again')
    expect(answer.text).toContain('value="a@x.test"')
    expect(answer.text).not.toContain(fields.password)
  })

  test('of another browser is shown again, and does nothing', async () => {
    const page = await browser().get(client.page('login'))
    const other = browser()
    await other.get(client.page('login'))
    expect((await other.submit(page, fields)).status).toBe(403)
  })

  test('without the cookie of its page is shown again, with a new one', async () => {
    const visitor = browser()
    const page = await visitor.get(client.page('login'))
    visitor.cookies.clear()
    const answer = await visitor.submit(page, fields)
    expect(answer.status).toBe(403)
    expect(answer.headers['set-cookie']).toMatch(
      /^croft_form=[\w-]{43}; Path=\/oidc\/[\w-]+; HttpOnly; SameSite=Lax$/,
    )
  })

  test('of the other pool is no good here', async () => {
    const visitor = browser()
    const page = await visitor.get(admin.page('login'))
    const answer = await visitor.post(
      client.page('login'),
      new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString(),
    )
    expect(answer.status).toBe(403)
  })

  test.each([
    ['JSON', 'application/json', '{}', 415],
    ['parts', 'multipart/form-data; boundary=x', '--x--', 415],
    ['a field twice', undefined, 'username=a&username=b', 400],
    ['too much', undefined, `username=${'x'.repeat(70_000)}`, 413],
  ])('of %s is refused on a page', async (_what, type, body, status) => {
    const answer = await browser().post(
      client.page('login'),
      body,
      type === undefined ? {} : { 'content-type': type },
    )
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.text).toContain(answer.headers['x-request-id'])
  })
})

describe('a wrong address or method', () => {
  test.each([
    ['GET', '/oidc/eu-central-1_000000000/login', 404, 'UserPoolNotFound'],
    ['DELETE', '/oidc/eu-central-1_000000000/login', 405, 'MethodNotAllowed'],
  ])('%s %s is answered with a page', async (method, path, status, code) => {
    const answer = await stack.call('one.test', method, path)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.text).toContain(code)
    expect(answer.text).toContain(answer.headers['x-request-id'])
  })
})
