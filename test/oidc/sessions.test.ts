import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const ORIGIN = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }

/** Where the browser of that cookie is sent: to the client with a code, with an error, or to the login page. */
async function outcome(
  cookie: string | undefined,
  changes: Record<string, string | undefined> = {},
  at: RelyingParty = client,
): Promise<string> {
  const { status, headers } = await at.authorize(changes, cookie)
  expect(status).toBe(303)
  const url = new URL(headers['location'] ?? '', client.pool.issuer)
  if (url.pathname.endsWith('/login')) return 'login'
  return url.searchParams.get('error') ?? (url.searchParams.has('code') ? 'code' : 'nothing')
}

const signedIn = async (email: string, changes: Record<string, string | undefined> = {}) => {
  const sub = await client.user(email)
  return { sub, ...(await client.signIn(sub, { changes })) }
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('a browser that is signed in', () => {
  test('gets a code without a question, and its tokens say when it was signed in', async () => {
    const sub = await client.user('sso@example.org')
    const { cookie } = await client.signIn(sub, { authTime: minutesAgo(10) })
    const { headers } = await client.authorize({ nonce: 'n-2' }, cookie)
    const code = new URL(headers['location'] ?? '').searchParams.get('code') ?? ''
    const { json } = await client.exchange(code)
    const claims = JSON.parse(Buffer.from(json.id_token.split('.')[1], 'base64url').toString())
    expect(claims).toMatchObject({ sub, nonce: 'n-2' })
    expect(claims.iat - claims.auth_time).toBeGreaterThan(595)
  })

  test.each([
    [{}, 'code'],
    [{ prompt: 'none' }, 'code'],
    [{ prompt: 'consent' }, 'code'],
    [{ prompt: 'login' }, 'login'],
    [{ prompt: 'select_account' }, 'login'],
    [{ prompt: 'consent login' }, 'login'],
    [{ max_age: '3600' }, 'code'],
    [{ max_age: '60' }, 'login'],
    [{ max_age: '0' }, 'login'],
    [{ max_age: '60', prompt: 'none' }, 'login_required'],
    [{ max_age: '3600', prompt: 'login' }, 'login'],
  ])('ten minutes ago is sent, for %j, to: %s', async (changes, where) => {
    const sub = await client.user('prompt@example.org')
    const { cookie } = await client.signIn(sub, { authTime: minutesAgo(10) })
    expect(await outcome(cookie, changes)).toBe(where)
  })

  test('is asked again where an id token names another user', async () => {
    const { cookie } = await signedIn('own@example.org')
    const own = await client.tokens('own@example.org')
    const other = await client.tokens('other@example.org')
    const foreign = await (await RelyingParty.of(stack, 'two.test')).tokens('own@example.org')
    const hint = (id_token_hint: string | undefined) => ({ id_token_hint })
    expect(await outcome(cookie, hint(own.id_token))).toBe('code')
    expect(await outcome(cookie, { ...hint(own.id_token), prompt: 'none' })).toBe('code')
    expect(await outcome(cookie, hint(other.id_token))).toBe('login')
    expect(await outcome(cookie, { ...hint(other.id_token), prompt: 'none' })).toBe(
      'login_required',
    )
    expect(await outcome(cookie, hint(foreign.id_token))).toBe('invalid_request')
    expect(await outcome(cookie, hint(own.access_token))).toBe('invalid_request')
  })

  test('takes an id token that has expired for a hint', async () => {
    await using yesterday = await startStack({
      beside: stack,
      platform: { clock: { now: () => minutesAgo(24 * 60) } },
    })
    const old = await (await client.at(yesterday)).tokens('hint@example.org')
    const { cookie } = await signedIn('hint@example.org')
    expect(await outcome(cookie, { id_token_hint: old.id_token, prompt: 'none' })).toBe('code')
  })

  test('gets no code when another user signs in than the client expects', async () => {
    const expected = await client.tokens('expected@example.org')
    const { location, code } = await signedIn('surprise@example.org', {
      id_token_hint: expected.id_token,
    })
    expect(code).toBe('')
    expect(location.searchParams.get('error')).toBe('login_required')
  })

  test('is so at its own pool and site only', async () => {
    const { cookie } = await signedIn('vic@example.org')
    const admins = await RelyingParty.of(stack, 'one.test', 'admin')
    const neighbour = await RelyingParty.of(stack, 'two.test')
    expect(await outcome(cookie, { prompt: 'none' }, admins)).toBe('login_required')
    expect(await outcome(cookie, { prompt: 'none' }, neighbour)).toBe('login_required')
  })

  test.each(['x'.repeat(43), '', 'a b', '%00'])('is not, with the cookie "%s"', async (value) => {
    expect(await outcome(`croft_session=${value}`, { prompt: 'none' })).toBe('login_required')
  })

  test('is not any more after 30 days, or once the user is gone or signed out', async () => {
    await using late = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() + 30 * 24 * 3_600_000) } },
    })
    const none = { prompt: 'none' }
    const { cookie } = await signedIn('brief@example.org')
    expect(await outcome(cookie, none, await client.at(late))).toBe('login_required')
    expect(await outcome(cookie, none)).toBe('code')
    const out = await signedIn('revoked@example.org')
    await stack.context.users.revokeTokens(client.site, client.pool.userPoolId, out.sub)
    expect(await outcome(out.cookie, none)).toBe('login_required')
    const gone = await signedIn('gone@example.org')
    await asSuperuser(stack, (sql) => sql`delete from pool_user where sub = ${gone.sub}`)
    expect(await outcome(gone.cookie, none)).toBe('login_required')
  })
})

describe('signing in again', () => {
  test('gives the browser a new token and ends the old one, in the same session', async () => {
    const { sub, token, cookie } = await signedIn('again@example.org')
    const again = await client.signIn(sub, { replaces: token })
    expect(again.token).not.toBe(token)
    expect(await outcome(cookie, { prompt: 'none' })).toBe('login_required')
    expect(await outcome(again.cookie, { prompt: 'none' })).toBe('code')
    expect(await stack.context.sessions.list(client.site, client.pool, sub)).toHaveLength(1)
  })

  test('with a planted token makes another one', async () => {
    const planted = 'p'.repeat(43)
    const sub = await client.user('planted@example.org')
    const { token } = await client.signIn(sub, { replaces: planted })
    expect(token).not.toBe(planted)
    expect(await outcome(`croft_session=${planted}`, { prompt: 'none' })).toBe('login_required')
  })

  test('as another user leaves nothing of the first one in the browser', async () => {
    const first = await signedIn('first@example.org')
    const second = await client.signIn(await client.user('second@example.org'), {
      replaces: first.token,
    })
    expect(await outcome(first.cookie, { prompt: 'none' })).toBe('login_required')
    expect(await outcome(second.cookie, { prompt: 'none' })).toBe('code')
    expect(await stack.context.sessions.list(client.site, client.pool, first.sub)).toEqual([])
  })

  test('is refused when the user was signed out everywhere while the password was checked', async () => {
    const sub = await client.user('race@example.org')
    const authTime = new Date()
    const { token } = await client.signIn(sub)
    const kept = await stack.context.sessions.find(client.site, client.pool, token)
    await everywhere(sub, kept?.sessionId)
    const late = client.signIn(sub, { authTime })
    await expect(late).rejects.toMatchObject({ code: 'InvalidCredentials' })
    const { cookie } = await client.signIn(sub)
    expect(await outcome(cookie, { prompt: 'none' })).toBe('code')
  })

  test('is refused for an account that is not taken up yet', async () => {
    const admins = await RelyingParty.of(stack, 'two.test', 'admin')
    const sub = await admins.user('ann@two.test')
    await expect(admins.signIn(sub)).rejects.toMatchObject({ code: 'InvalidCredentials' })
  })
})

const everywhere = async (sub: string, sessionId?: string) => {
  await stack.inSite('one.test', (tx) =>
    stack.context.signOut.everywhere(tx, client.pool, sub, {
      by: { type: 'owner', origin: ORIGIN },
      sessionId,
    }),
  )
}

describe('the sessions of a user', () => {
  test('are listed, with clients that have no browser', async () => {
    const { sub, token } = await signedIn('list@example.org')
    const { tokenEndpoint, sessions, clock } = stack.context
    const grant = {
      client: client.pool,
      sub,
      scope: 'aws.cognito.signin.user.admin',
      authTime: clock.now(),
    }
    const { site, pool } = client
    const origin = { ...ORIGIN, userAgent: 'an app' }
    await tokenEndpoint.start({ site, pool, origin }, grant, async () => {})
    const session = await sessions.find(client.site, client.pool, token)
    const common = {
      address: '127.0.0.1',
      createdAt: expect.any(Date),
      lastSeenAt: expect.any(Date),
      expiresAt: expect.any(Date),
    }
    expect(await sessions.list(client.site, client.pool, sub)).toEqual([
      { ...common, sessionId: expect.any(String), method: null, userAgent: 'an app' },
      { ...common, sessionId: session?.sessionId, method: 'password', userAgent: 'relying-party' },
    ])
  })

  test('can be ended one by one, with all their tokens', async () => {
    const [one, other] = [
      await client.tokens('end@example.org'),
      await client.tokens('end@example.org'),
    ]
    const { sessions } = stack.context
    const sub = await client.user('end@example.org')
    const session = await sessions.find(client.site, client.pool, one.token)
    const target = { sub, sessionId: session?.sessionId ?? '' }
    expect(await client.isTaken(one.access_token)).toBe(true)
    await sessions.revoke(client.site, client.pool, target, { type: 'operator', origin: ORIGIN })
    expect(await outcome(one.cookie, { prompt: 'none' })).toBe('login_required')
    expect(await client.isTaken(one.access_token)).toBe(false)
    expect((await client.refresh(one.refresh_token)).status).toBe(400)
    expect(await outcome(other.cookie, { prompt: 'none' })).toBe('code')
    expect((await client.refresh(other.refresh_token)).status).toBe(200)
    const twice = sessions.revoke(client.site, client.pool, target, SYSTEM)
    await expect(twice).rejects.toMatchObject({ code: 'SessionNotFound' })
    const events = await asSuperuser(
      stack,
      (sql) => sql`select actor, detail from security_event where event = 'session.revoked'`,
    )
    expect(events).toEqual([{ actor: 'operator', detail: { sessionId: target.sessionId } }])
  })

  test('are not another user’s to end', async () => {
    const mine = await client.tokens('mine@example.org')
    const { sessions } = stack.context
    const session = await sessions.find(client.site, client.pool, mine.token)
    const thief = {
      sub: await client.user('thief@example.org'),
      sessionId: session?.sessionId ?? '',
    }
    await expect(sessions.revoke(client.site, client.pool, thief, SYSTEM)).rejects.toMatchObject({
      code: 'SessionNotFound',
    })
    expect(await client.isTaken(mine.access_token)).toBe(true)
  })

  test('take a code in flight with them', async () => {
    const { sub, token, code } = await signedIn('code@example.org')
    const session = await stack.context.sessions.find(client.site, client.pool, token)
    const target = { sub, sessionId: session?.sessionId ?? '' }
    await stack.context.sessions.revoke(client.site, client.pool, target, SYSTEM)
    expect((await client.exchange(code)).json.error).toBe('invalid_grant')
  })
})

describe('signing out everywhere', () => {
  test('ends every session, token and code, on both replicas', async () => {
    await using second = await startStack({ beside: stack })
    const there = await client.at(second)
    const [one, two] = [
      await client.tokens('all@example.org'),
      await there.tokens('all@example.org'),
    ]
    const { sub, code } = await signedIn('all@example.org')
    expect(await there.isTaken(one.access_token)).toBe(true)
    await everywhere(sub)
    for (const tokens of [one, two]) {
      expect(await client.isTaken(tokens.access_token)).toBe(false)
      await expect.poll(() => there.isTaken(tokens.access_token)).toBe(false)
      expect((await client.refresh(tokens.refresh_token)).status).toBe(400)
      expect(await outcome(tokens.cookie, { prompt: 'none' })).toBe('login_required')
    }
    expect((await client.exchange(code)).status).toBe(400)
    expect((await client.tokens('all@example.org')).access_token).toBeTruthy()
  })

  test.each(['session', 'family'] as const)('can spare one, named by its %s', async (which) => {
    const email = `keep-${which}@example.org`
    const [kept, other] = [await client.tokens(email), await client.tokens(email)]
    const sub = await client.user(email)
    const session = await stack.context.sessions.find(client.site, client.pool, kept.token)
    const claims = JSON.parse(
      Buffer.from(kept.access_token.split('.')[1] ?? '', 'base64url').toString(),
    )
    await everywhere(sub, which === 'session' ? session?.sessionId : claims.origin_jti)
    expect(await client.isTaken(kept.access_token)).toBe(true)
    expect((await client.refresh(kept.refresh_token)).status).toBe(200)
    expect(await outcome(kept.cookie, { prompt: 'none' })).toBe('code')
    expect(await client.isTaken(other.access_token)).toBe(false)
    expect((await client.refresh(other.refresh_token)).status).toBe(400)
    expect(await outcome(other.cookie, { prompt: 'none' })).toBe('login_required')
  })
})

describe('a restart in the middle', () => {
  test('loses neither session, code nor refresh token', async () => {
    await using dead = await startStack({ beside: stack })
    const before = await client.at(dead)
    const browser = await before.signIn(await before.user('restart@example.org'))
    const tokens = await before.tokens('restart@example.org')
    await dead[Symbol.asyncDispose]()

    await using risen = await startStack({ beside: stack })
    const after = await client.at(risen)
    expect(await outcome(browser.cookie, { prompt: 'none' }, after)).toBe('code')
    const answer = await after.exchange(browser.code, { code_verifier: before.verifier })
    expect(answer.status).toBe(200)
    expect((await after.refresh(tokens.refresh_token)).status).toBe(200)
    expect(await after.isTaken(tokens.access_token)).toBe(true)
  })
})
