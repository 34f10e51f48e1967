import { describe, expect, test } from 'vitest'

import { Session, type SessionDeps, SessionError } from './session.ts'

const ORIGIN = 'https://admin.shop.test'
const ISSUER = `${ORIGIN}/oidc/pool`
const CLIENT = 'console'
const LIFETIME_SECONDS = 3600

interface TokenRequest {
  readonly url: string
  readonly fields: URLSearchParams
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : '')

/** An issuer and a tab, without a network. */
class Desk {
  readonly stored = new Map<string, string>()
  readonly left: URL[] = []
  readonly requests: TokenRequest[] = []
  now = 1_000_000
  groups: readonly string[] = ['admin']
  /** Answers in place of the issuer. */
  refuse: (() => Response | Promise<Response>) | undefined
  #tokens = 0

  session(): Session {
    const deps: SessionDeps = {
      config: { issuer: ISSUER, clientId: CLIENT },
      origin: ORIGIN,
      storage: {
        getItem: (name) => this.stored.get(name) ?? null,
        setItem: (name, value) => void this.stored.set(name, value),
        removeItem: (name) => void this.stored.delete(name),
      },
      leave: (url) => void this.left.push(new URL(url)),
      now: () => this.now,
      language: () => 'de',
      fetch: async (url, init) => this.#answer(url, new URLSearchParams(textOf(init.body))),
    }
    return new Session(deps)
  }

  /** The parameters of the last authorization request. */
  get asked(): URLSearchParams {
    return this.left.at(-1)?.searchParams ?? new URLSearchParams()
  }

  /** The address that the issuer sends the tab to. */
  back(params: Readonly<Record<string, string>>): URL {
    const query = new URLSearchParams({ state: this.asked.get('state') ?? '', ...params })
    return new URL(`${ORIGIN}/signed-in?${query}`)
  }

  /** A tab that was signed in at a place. */
  async signedIn(place = '/people/admins'): Promise<Session> {
    await this.session().start(new URL(ORIGIN + place))
    const session = this.session()
    await session.start(this.back({ code: 'c-1' }))
    return session
  }

  async #answer(url: string, fields: URLSearchParams): Promise<Response> {
    this.requests.push({ url, fields })
    if (this.refuse) return this.refuse()
    const isCode = fields.get('grant_type') === 'authorization_code'
    const claims = {
      iss: ISSUER,
      aud: CLIENT,
      sub: 'u-1',
      email: 'ann@shop.test',
      'cognito:groups': this.groups,
      ...(isCode && { nonce: this.asked.get('nonce') }),
    }
    const count = ++this.#tokens
    return Response.json({
      access_token: `access-${count}`,
      refresh_token: `refresh-${count}`,
      id_token: `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`,
      expires_in: LIFETIME_SECONDS,
    })
  }
}

describe('a tab without tokens', () => {
  test('asks the issuer silently, with PKCE, a state and a nonce', async () => {
    const desk = new Desk()
    const session = desk.session()
    expect(await session.start(new URL(`${ORIGIN}/people/admins?q=a#b`))).toBeUndefined()
    expect(session.state.value).toEqual({ kind: 'leaving' })
    expect(desk.left.at(-1)?.href).toMatch(`${ISSUER}/oauth2/authorize?`)
    expect(Object.fromEntries(desk.asked)).toEqual({
      client_id: CLIENT,
      redirect_uri: `${ORIGIN}/signed-in`,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      ui_locales: 'de',
      prompt: 'none',
    })
  })

  test('comes back to its place with tokens, and leaves nothing in the tab', async () => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}/people/admins?q=a#b`))
    const challenge = desk.asked.get('code_challenge')
    const session = desk.session()
    expect(await session.start(desk.back({ code: 'c-1', iss: ISSUER }))).toBe(
      '/people/admins?q=a#b',
    )
    expect(session.account.value).toEqual({ userId: 'u-1', email: 'ann@shop.test', role: 'admin' })
    expect(await session.accessToken()).toBe('access-1')
    const [{ url, fields } = { url: '', fields: new URLSearchParams() }] = desk.requests
    expect(url).toBe(`${ISSUER}/oauth2/token`)
    expect(Object.fromEntries(fields)).toMatchObject({ code: 'c-1', client_id: CLIENT })
    const digest = await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(fields.get('code_verifier') ?? ''),
    )
    expect(Buffer.from(digest).toString('base64url')).toBe(challenge)
    expect([...desk.stored]).toEqual([])
  })

  test('asks a person where the issuer cannot answer silently, and keeps the place', async () => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}/logs?level=error`))
    const session = desk.session()
    expect(await session.start(desk.back({ error: 'login_required' }))).toBeUndefined()
    expect(desk.asked.get('prompt')).toBeNull()
    expect(await desk.session().start(desk.back({ code: 'c-1' }))).toBe('/logs?level=error')
  })

  test.each([
    ['an error of the issuer', { error: 'access_denied', error_description: 'No' }, 'No'],
    [
      'a code of another issuer',
      { code: 'c', iss: 'https://evil.test' },
      'The response has no code',
    ],
    ['no code', {}, 'The response has no code'],
  ])('fails at %s, and asks for nothing again', async (_what, params, message) => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}/`))
    const session = desk.session()
    expect(await session.start(desk.back(params))).toBeUndefined()
    expect(session.state.value).toEqual({ kind: 'failed', message })
    expect(desk.left).toHaveLength(1)
    expect(desk.requests).toEqual([])
  })

  test('takes no code for a state that is not its own', async () => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}/`))
    const session = desk.session()
    await session.start(new URL(`${ORIGIN}/signed-in?code=c&state=forged`))
    expect(desk.requests).toEqual([])
    expect(desk.asked.get('prompt')).toBe('none')
  })

  test('fails where the ID token is for another sign-in', async () => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}/`))
    const back = desk.back({ code: 'c-1' })
    desk.left.push(new URL(`${ISSUER}/oauth2/authorize?nonce=another`))
    const session = desk.session()
    await session.start(back)
    expect(session.state.value).toEqual({
      kind: 'failed',
      message: 'The ID token is for another sign-in',
    })
  })

  test('returns to no other origin, whatever the tab holds', async () => {
    const desk = new Desk()
    await desk.session().start(new URL(`${ORIGIN}//evil.test/`))
    expect(await desk.session().start(desk.back({ code: 'c-1' }))).toBe('/')
  })
})

describe('a tab with tokens', () => {
  test('renews them ahead of their end, once for all calls that wait', async () => {
    const desk = new Desk()
    const session = await desk.signedIn()
    desk.now += (LIFETIME_SECONDS - 30) * 1000
    const tokens = await Promise.all([session.accessToken(), session.accessToken()])
    expect(tokens).toEqual(['access-2', 'access-2'])
    expect(desk.requests.at(-1)?.fields.get('refresh_token')).toBe('refresh-1')
    expect(desk.requests).toHaveLength(2)
  })

  test('renews a token that was refused, and not one that is newer', async () => {
    const desk = new Desk()
    const session = await desk.signedIn()
    expect(await session.freshToken('access-1')).toBe('access-2')
    expect(await session.freshToken('access-1')).toBe('access-2')
    expect(desk.requests).toHaveLength(2)
  })

  test('has ended where the refresh token is refused, and still names the account', async () => {
    const desk = new Desk()
    const session = await desk.signedIn()
    desk.refuse = () => Response.json({ error: 'invalid_grant' }, { status: 400 })
    const refused = await session.freshToken('access-1').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SessionError)
    expect(refused).toMatchObject({ isEnded: true })
    expect(session.state.value).toMatchObject({ kind: 'ended', account: { userId: 'u-1' } })
  })

  test.each([
    ['is restarted', () => new Response('', { status: 503 })],
    ['cannot be reached', () => Promise.reject(new TypeError('Failed to fetch'))],
  ])('goes on after the service %s', async (_what, refuse) => {
    const desk = new Desk()
    const session = await desk.signedIn()
    desk.refuse = refuse
    await expect(session.freshToken('access-1')).rejects.toMatchObject({ isEnded: false })
    expect(session.state.value.kind).toBe('signed-in')
    desk.refuse = undefined
    expect(await session.freshToken('access-1')).toBe('access-2')
  })

  test('asks for a recent sign-in, and comes back', async () => {
    const desk = new Desk()
    const session = await desk.signedIn()
    await session.stepUp('/people/admins/u-2')
    expect(Number(desk.asked.get('max_age'))).toBeLessThan(15 * 60)
    expect(await desk.session().start(desk.back({ code: 'c-2' }))).toBe('/people/admins/u-2')
  })

  test('signs out at the issuer, with its ID token, and forgets its tokens', async () => {
    const desk = new Desk()
    const session = await desk.signedIn()
    session.signOut()
    expect(desk.left.at(-1)?.href).toMatch(`${ISSUER}/logout?`)
    expect(Object.fromEntries(desk.asked)).toEqual({
      client_id: CLIENT,
      post_logout_redirect_uri: `${ORIGIN}/`,
      id_token_hint: expect.stringMatching(/^h\./),
      ui_locales: 'de',
    })
    await expect(session.accessToken()).rejects.toBeInstanceOf(SessionError)
  })

  test.each([
    [['super-admin'], 'super-admin'],
    [['user'], 'user'],
    [[], 'user'],
  ] as const)('of the groups %j has the role %s', async (groups, role) => {
    const desk = new Desk()
    desk.groups = groups
    expect((await desk.signedIn()).account.value?.role).toBe(role)
  })
})
