import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD, Owner } from '#test/account-owner.ts'
import { hiddenFields, textOf } from '#test/form-browser.ts'
import { googleFor } from '#test/google-sign-in.ts'
import type { Answer } from '#test/http-client.ts'
import { CALLBACK, RegisteredParty } from '#test/registered-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

let stack: Stack
let second: Stack
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const theirs = (host = 'one.test', registration: Readonly<Record<string, unknown>> = {}) =>
  RegisteredParty.register(stack, host, { isThirdParty: true, ...registration })

type Changes = Readonly<Record<string, string | undefined>>

/** The response to the application's request in a user's browser. */
const ask = (
  owner: Owner,
  app: RegisteredParty,
  changes: Changes = {},
  page = 'oauth2/authorize',
) =>
  owner.browser.get(
    `${app.party.path}/${page}?${app.party.params(app.request(changes)).toString()}`,
  )

/** The page that a redirect leads to. */
async function led(owner: Owner, answer: Answer): Promise<Answer> {
  expect(answer.status, answer.text).toBe(303)
  const to = String(answer.headers['location'])
  return to.startsWith('/') ? owner.browser.get(to) : answer
}

/** The fields that the application gets. */
function told(answer: Answer): Readonly<Record<string, string>> {
  const to = new URL(String(answer.headers['location']), 'http://nowhere.test')
  expect(to.origin + to.pathname).toBe(CALLBACK)
  return Object.fromEntries(to.searchParams)
}

const consentsOf = (owner: Owner) =>
  asSuperuser(
    stack,
    (sql) => sql`select client_id, scope from client_consent where sub = ${owner.sub}`,
  )

describe.each([
  ['one.test', 'data'],
  ['two.test', 'data'],
  ['two.test', 'admin'],
] as const)('an application of others at %s, in the %s pool,', (host, pool) => {
  let app: RegisteredParty
  let owner: Owner
  beforeAll(async () => {
    app = await theirs(host, { pool, name: 'Helpdesk' })
    owner = await Owner.of(stack, host, pool)
  })

  test('gets a code once the user has allowed it, and then without a question', async () => {
    expect(told(await ask(owner, app, { prompt: 'none' }))).toMatchObject({
      error: 'consent_required',
      state: 'st-1',
    })
    const page = await led(owner, await ask(owner, app))
    expect(page.status).toBe(200)
    const words = textOf(page.text)
    expect(words).toContain('Sign in to Helpdesk?')
    expect(words).toContain(
      `Helpdesk (helpdesk.example) wants to sign you in. You are ${owner.email}`,
    )
    expect(words).toContain('your email address')
    expect(page.headers['content-security-policy']).toContain('https://helpdesk.example')
    expect(await consentsOf(owner)).toEqual([])
    const { code = '' } = told(await owner.browser.submit(page, {}))
    const tokens = await app.exchange(code)
    expect(tokens.status, tokens.text).toBe(200)
    expect((await app.party.userInfo(tokens.json.access_token)).json).toMatchObject({
      sub: owner.sub,
      email: owner.email,
    })
    expect(await consentsOf(owner)).toEqual([
      { client_id: app.clientId, scope: 'openid email profile' },
    ])
    for (const prompt of ['none', undefined]) {
      expect(told(await ask(owner, app, { prompt }))).toHaveProperty('code')
    }
  })

  test('is shown on the account’s page, signed out there, and asks again', async () => {
    const page = await led(owner, await ask(owner, app, { prompt: 'consent' }))
    const { code = '' } = told(await owner.browser.submit(page, {}))
    const { refresh_token: token } = (await app.exchange(code)).json
    const unused = told(await ask(owner, app))['code'] ?? ''
    const account = await owner.open()
    expect(textOf(account.text)).toContain('Applications you let in')
    const kept = await owner.open('/export')
    expect(JSON.parse(kept.text).applications).toMatchObject([{ clientId: app.clientId }])
    const csrf = hiddenFields(account.text)['_csrf'] ?? ''
    const fields = { _csrf: csrf, client: app.clientId, action: 'remove' }
    const path = `${app.party.path}/account/applications`
    const forged = await owner.browser.post(
      path,
      new URLSearchParams({ ...fields, _csrf: 'x' }).toString(),
    )
    expect(textOf(forged.text)).toContain('Applications you let in')
    expect((await consentsOf(owner)).length).toBe(1)
    const removed = await owner.browser.post(path, new URLSearchParams(fields).toString())
    expect(textOf((await led(owner, removed)).text)).toContain('That application is signed out')
    expect(await consentsOf(owner)).toEqual([])
    expect((await app.refresh(token)).json).toMatchObject({ error: 'invalid_grant' })
    expect((await app.exchange(unused)).json).toMatchObject({ error: 'invalid_grant' })
    expect(textOf((await led(owner, await ask(owner, app))).text)).toContain('Sign in to Helpdesk?')
    expect(textOf((await owner.open()).text)).not.toContain('Applications you let in')
  })
})

describe('the page for consent', () => {
  let app: RegisteredParty
  beforeAll(async () => {
    app = await theirs()
  })

  test('tells the application when it is not allowed, and remembers nothing', async () => {
    const owner = await Owner.of(stack, 'one.test')
    const page = await led(owner, await ask(owner, app))
    expect(told(await owner.browser.submit(page, { action: 'deny' }))).toMatchObject({
      error: 'access_denied',
      state: 'st-1',
    })
    expect(await consentsOf(owner)).toEqual([])
  })

  test('comes again for more than was allowed, and not for less', async () => {
    const owner = await Owner.of(stack, 'one.test')
    const page = await led(owner, await ask(owner, app, { scope: 'openid' }))
    expect(textOf(page.text)).not.toContain('your email address')
    told(await owner.browser.submit(page, {}))
    const more = await led(owner, await ask(owner, app, { scope: 'openid email' }))
    expect(textOf(more.text)).toContain('your email address')
    told(await owner.browser.submit(more, {}))
    for (const scope of ['openid', 'email', 'openid email']) {
      expect(told(await ask(owner, app, { scope, nonce: undefined }))).toHaveProperty('code')
    }
  })

  test.each(['login', 'select_account', 'login consent'])(
    'follows the sign-in that prompt=%s asks for',
    async (prompt) => {
      const owner = await Owner.of(stack, 'one.test')
      const login = await led(owner, await ask(owner, app, { prompt }))
      expect(textOf(login.text)).toContain('to continue to Helpdesk (helpdesk.example)')
      const signedIn = await owner.browser.submit(login, {
        username: owner.email,
        password: PASSWORD,
      })
      const page = await led(owner, signedIn)
      expect(textOf(page.text)).toContain('Sign in to Helpdesk?')
      // Any replica goes on.
      owner.browser.stack = second
      expect(told(await owner.browser.submit(page, {}))).toHaveProperty('code')
    },
  )

  test('does not take an older sign-in for the one that prompt=login asks for', async () => {
    const owner = await Owner.of(stack, 'one.test')
    const changes = { prompt: 'login' }
    expect(textOf((await led(owner, await ask(owner, app, changes, 'consent'))).text)).toContain(
      'Forgot password?',
    )
    // Another user signs in to the browser whose page is open.
    const login = await led(owner, await ask(owner, app, changes))
    const page = await led(
      owner,
      await owner.browser.submit(login, { username: owner.email, password: PASSWORD }),
    )
    const other = await Owner.of(stack, 'one.test')
    for (const [name, value] of other.browser.cookies) {
      if (name.includes('session')) owner.browser.cookies.set(name, value)
    }
    const answer = await owner.browser.submit(page, {})
    expect(String(answer.headers['location'])).toContain('/login?')
    expect(await consentsOf(other)).toEqual([])
  })

  test('is nothing without a session, and nothing for an application of the site', async () => {
    const owner = await Owner.of(stack, 'one.test')
    const ours = await RegisteredParty.register(stack, 'one.test')
    const direct = await ask(owner, ours, {}, 'consent')
    expect(String(direct.headers['location'])).toContain('/login?')
    expect(told(await ask(owner, ours))).toHaveProperty('code')
    const page = await led(owner, await ask(owner, app))
    for (const name of owner.browser.cookies.keys()) {
      if (name.includes('session')) owner.browser.cookies.delete(name)
    }
    const late = await owner.browser.submit(page, {})
    expect(String(late.headers['location'])).toContain('/login?')
  })

  test('takes no answer that another site or a stale page sends', async () => {
    const owner = await Owner.of(stack, 'one.test')
    const page = await led(owner, await ask(owner, app))
    const foreign = await owner.browser.submit(page, {}, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    const stale = await owner.browser.submit(page, { _csrf: 'x' })
    expect(textOf(stale.text)).toContain('Sign in to Helpdesk?')
    expect(await consentsOf(owner)).toEqual([])
  })

  test.each([
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
  ])('is neither shown to %s, nor answered by it', async (_what, headers) => {
    const owner = await Owner.of(stack, 'one.test')
    const page = await led(owner, await ask(owner, app))
    const answered = await owner.browser.submit(page, {}, headers)
    expect(answered.status).toBe(403)
    expect(answered.headers['location']).toBeUndefined()
    const cookie = [...owner.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const shown = await stack.call('one.test', 'GET', app.party.page('consent', app.request()), {
      headers: { ...headers, cookie },
    })
    expect(shown.status).toBe(403)
    expect(shown.text).not.toContain('_csrf')
    expect(await consentsOf(owner)).toEqual([])
  })

  test('follows a sign-in with Google, too', async () => {
    await using google = await googleFor(stack, ['one.test'])
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const redirectUri = 'https://helpdesk.example/auth/callback'
    const other = await theirs('one.test', { redirectUris: [redirectUri] })
    const browser = new WalkingBrowser()
    const changes = { redirect_uri: redirectUri, prompt: 'login', identity_provider: 'Google' }
    const query = other.party.params(other.request(changes)).toString()
    const issuer = `${stack.baseUrl('one.test')}${other.party.path}`
    const page = await browser.open(`${issuer}/oauth2/authorize?${query}`)
    expect(textOf(page.answer.text)).toContain('You are mia@example.test')
    const { url } = await browser.submit(page, {})
    expect(url.origin + url.pathname).toBe(redirectUri)
    const code = url.searchParams.get('code') ?? ''
    const exchanged = await other.exchange(code, other.basic(), { redirect_uri: redirectUri })
    expect(exchanged.status, exchanged.text).toBe(200)
  })
})
