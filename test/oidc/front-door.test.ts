import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser } from '#test/form-browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-Horse-9-Battery'
const EVIL = 'evil.example'
/** What a proxy in front may say, and any other client may pretend. */
const LIES = {
  'x-forwarded-host': EVIL,
  'x-forwarded-proto': 'http',
  'x-forwarded-port': '6666',
  'x-forwarded-prefix': '/evil',
  'x-original-host': EVIL,
  'x-host': EVIL,
  'x-rewrite-url': `https://${EVIL}/`,
  'x-http-method-override': 'DELETE',
  forwarded: `host=${EVIL};proto=http`,
}

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  // TLS ends at a proxy in front of us.
  stack = await startStack({ config: { baseUrl: 'https://croft.test' } })
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

async function visitor(): Promise<string> {
  const email = 'vic@example.org'
  const sub = await client.user(email)
  const { ownPasswords } = stack.context
  const origin = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }
  if (!(await ownPasswords.has(client.site, client.pool, sub))) {
    await ownPasswords.add(
      { site: client.site, pool: client.pool, origin },
      { sub, password: PASSWORD },
    )
  }
  return email
}

async function signIn(headers: Readonly<Record<string, string>>) {
  const browser = new FormBrowser(stack, 'one.test')
  const page = await browser.get(client.page('login'))
  const username = await visitor()
  return { page, answer: await browser.submit(page, { username, password: PASSWORD }, headers) }
}

describe('behind TLS', () => {
  test('everything that a browser keeps or is sent to is for TLS alone', async () => {
    expect(client.pool.issuer).toMatch(/^https:\/\/one\.test\/oidc\//)
    const { page, answer } = await signIn({ origin: 'https://one.test' })
    expect(page.headers['set-cookie']).toBe(
      `__Host-croft_form.${client.pool.userPoolId}=${/=([\w-]{43})/.exec(page.headers['set-cookie'] ?? '')?.[1]}; ` +
        'Path=/; HttpOnly; SameSite=Lax; Secure',
    )
    expect(page.headers['content-security-policy']).toContain(
      "form-action 'self' https://one.test;",
    )
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toMatch(/^https:\/\/one\.test\/auth\/callback\?code=/)
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-croft_session\.[\w-]+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=/,
    )
  })

  test.each(['http://one.test', 'https://one.test:6666', 'https://one.test.', 'https://two.test'])(
    'a form from %s is refused',
    async (origin) => {
      const { answer } = await signIn({ origin })
      expect(answer.status).toBe(403)
      expect(answer.headers['set-cookie'] ?? '').not.toContain('croft_session')
    },
  )
})

describe('a header that only a proxy may set', () => {
  test.each(Object.entries(LIES))('%s is not believed of any client', async (name, value) => {
    const headers = { [name]: value }
    const paths = [
      client.page('login'),
      client.page('oauth2/authorize'),
      `${client.path}/.well-known/openid-configuration`,
      `${client.path}/logout`,
      '/data/auth/config',
      '/admin/public/config',
      '/admin/public/onboarding/user?token=x',
    ]
    for (const path of paths) {
      const [told, plain] = [
        await stack.call('one.test', 'GET', path, { headers }),
        await stack.call('one.test', 'GET', path),
      ]
      expect(told.status).toBe(plain.status)
      expect(JSON.stringify(told.headers) + told.text).not.toContain('evil')
      expect(told.headers['location']).toBe(plain.headers['location'])
    }
  })

  test('gets into no mail, whatever it says', async () => {
    const token = await stack.adminToken('one.test')
    const body = { email: 'new@one.test', role: 'user' }
    const headers = { ...LIES }
    await stack.call('one.test', 'POST', '/admin/api/users', { token, body, headers })
    const message = await mailTo(stack, 'new@one.test', 'invite')
    expect(linkIn(message)).toMatch(/^https:\/\/one\.test\/admin\/public\/onboarding\/user\?token=/)
    expect(message.text + message.html + message.from + message.subject).not.toContain('evil')
  })

  test.each(['evil.example', 'one.test.evil.example', 'one.test@evil.example', '[::1]', ''])(
    'a host %j has no site',
    async (host) => {
      const answer = await stack.call(host, 'GET', client.page('login'))
      expect([400, 404]).toContain(answer.status)
      expect(answer.headers).not.toHaveProperty('location')
      expect(answer.headers).not.toHaveProperty('set-cookie')
    },
  )

  test('a host with a port, a dot at its end or in capitals is still ours, under our own name', async () => {
    for (const host of ['one.test:6666', 'one.test.', 'ONE.test']) {
      const answer = await stack.call(host, 'GET', client.page('login'))
      expect(answer.status).toBe(200)
      expect(answer.text).not.toMatch(/6666|one\.test\.["<]|ONE/)
    }
  })
})
