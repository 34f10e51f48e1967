import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => stack[Symbol.asyncDispose]())

const run = (...args: string[]) => croft(args, env)
const json = async (...args: string[]) => {
  const ran = await run(...args, '--json')
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}

describe('croft auth', () => {
  test('shows both pools', async () => {
    const view = await json('auth', 'show', 'one.test')
    expect(view).toEqual((await stack.portal('GET', '/sites/one.test/auth')).json)
    const { out } = await run('auth', 'show', 'one.test')
    expect(out).toContain('8 characters or more, upper case, lower case, digit, symbol')
    expect(out).toMatch(new RegExp(`data pool +${view.data.userPoolId}`))
    expect(out).toMatch(/self sign-up +on/)
    expect(out).toContain(`${stack.baseUrl('one.test')}/auth/callback`)
  })

  test('changes what its options name', async () => {
    const set = (...args: string[]) => json('auth', 'set', 'one.test', '--pool', 'data', ...args)
    const uris = [
      '--redirect-uri',
      'http://localhost:5173/cb',
      '--redirect-uri',
      'https://a.example/',
    ]
    await set(...uris, '--cognito-api', 'on', '--access-token-format', 'rfc9068')
    const scoped = await set('--scope', 'orders:read=See = your orders', '--scope', 'b=B')
    expect(scoped.data.scopes).toEqual({ 'orders:read': 'See = your orders', b: 'B' })
    expect((await run('auth', 'show', 'one.test')).out).toContain('scope orders:read')
    expect((await set('--no-scopes')).data.scopes).toEqual({})
    expect(await run('auth', 'set', 'one.test', '--pool', 'data', '--scope', 'x')).toMatchObject({
      code: 2,
    })
    await set('--sign-up', 'off', '--link-verified', 'on')
    await set('--min-length', '14', '--require', 'lower,digit')
    const { data, admin } = await set('--client', 'link', '--redirect-uri', 'https://l.example/')
    const own = `${stack.baseUrl('one.test')}/auth/callback`
    expect(data).toMatchObject({
      selfSignUp: false,
      linkVerifiedAddresses: true,
      passwordPolicy: {
        minimumLength: 14,
        requireUppercase: false,
        requireLowercase: true,
        requireNumbers: true,
        requireSymbols: false,
      },
      clients: {
        default: {
          cognitoApi: true,
          accessTokenFormat: 'rfc9068',
          redirectUris: [own, 'http://localhost:5173/cb', 'https://a.example/'],
        },
        link: { redirectUris: [own, 'https://l.example/'] },
      },
    })
    expect(admin.passwordPolicy.minimumLength).toBe(8)
    const cleared = await set('--no-redirect-uris', '--require', 'none')
    expect(cleared.data.clients.default.redirectUris).toEqual([own])
    expect(cleared.data.passwordPolicy.requireLowercase).toBe(false)
  })

  test('gives the service’s reason for a URI that it refuses', async () => {
    const uri = 'https://app.example/#x'
    const ran = await run('auth', 'set', 'one.test', '--pool', 'data', '--logout-uri', uri)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('data.clients.default.logoutUris[0]: must have no fragment')
  })

  test.each<[string[], string]>([
    [['auth', 'set', 'one.test'], '--pool is missing'],
    [['auth', 'set', 'one.test', '--pool', 'x'], '--pool is admin or data'],
    [['auth', 'set', 'one.test', '--pool', 'data'], 'say what to change'],
    [['auth', 'set', 'one.test', '--pool', 'data', '--sign-up', 'yes'], '--sign-up is on or off'],
    [['auth', 'set', 'one.test', '--pool', 'data', '--require', 'x'], '--require takes'],
    [['auth', 'set', 'one.test', '--pool', 'data', '--min-length', 'x'], '--min-length is a whole'],
    [
      ['auth', 'set', 'a', '--pool', 'data', '--no-logout-uris', '--logout-uri', 'x'],
      'exclude each other',
    ],
    [['audit'], 'DOMAIN is missing'],
    [['sessions', 'one.test'], '--user is missing'],
    [['sessions', 'a', '--user', 'u@x', '--end', 'x', '--end-all'], 'exclude each other'],
    [['audit', 'one.test', '--limit', '0'], '--limit is a whole number'],
  ])('(%j) called wrongly ends with 2 and says so', async (args, words) => {
    const ran = await run(...args)
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(words)
  })
})

describe('croft audit', () => {
  test('tells what happened, newest first, as far back as asked', async () => {
    await stack.createSite({ domain: 'trail.test', superAdmins: ['ann@trail.test'] })
    const { siteId } = await stack.context.sites.find('trail.test')
    for (let count = 0; count < 103; count++) {
      const event = { event: 'sign-out', sub: `u${count}`, email: 'v\u001b[31m@x.test' } as const
      await stack.context.securityEvents.note(siteId, event)
    }
    await run('auth', 'set', 'trail.test', '--pool', 'admin', '--min-length', '20')
    const { items } = await json('audit', 'trail.test', '--limit', '104')
    expect(items).toHaveLength(104)
    expect(items[0]).toMatchObject({ event: 'settings.changed', actor: 'operator' })
    // Those of one millisecond come in any order.
    const subs = items.map(({ sub }: { sub: string | null }) => sub)
    expect(subs).toContain('u0')
    const times = items.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted().toReversed())
    expect((await json('audit', 'trail.test')).items).toHaveLength(50)
    expect((await json('audit', 'trail.test', '--sub', 'u7')).items).toHaveLength(1)
    expect((await json('audit', 'trail.test', '--user', 'nobody@x')).items).toEqual([])
    const { out } = await run('audit', 'trail.test', '--limit', '2')
    expect(out).toMatch(
      /settings\.changed +admin +by operator +127\.0\.0\.1 +passwordPolicy\.minimumLength=20\n/,
    )
    expect(out).not.toContain('\u001b')
    const none = await run('audit', 'trail.test', '--event', 'keys.rotated')
    expect(none.out).toBe('Nothing of that kind has happened.\n')
    const wrong = await run('audit', 'trail.test', '--event', 'x')
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.err).toContain('event: must be one of sign-up.requested')
  })
})

describe('croft sessions', () => {
  test('lists where a visitor is signed in, and ends it', async () => {
    const visitors = await RelyingParty.of(stack, 'two.test')
    const user = 'vic@two.test'
    const of = (...args: string[]) => ['sessions', 'two.test', '--user', user, ...args]
    const tokens = [
      (await visitors.tokens(user)).access_token,
      (await visitors.tokens(user)).access_token,
      (await visitors.tokens(user)).access_token,
    ]
    const taken = () => Promise.all(tokens.map((token) => visitors.isTaken(token)))
    const { items } = await json(...of())
    expect(items).toHaveLength(3)
    expect((await run(...of())).out).toMatch(
      /^ses_\w+ +password +since .*Z +seen .*Z +127\.0\.0\.1/,
    )
    expect(await json(...of('--end', items[0].sessionId))).toEqual({
      user,
      pool: 'data',
      ended: items[0].sessionId,
    })
    expect(await taken()).toEqual([true, true, false])
    expect((await run(...of('--end', items[0].sessionId))).err).toContain('SessionNotFound')
    expect((await run(...of('--end-all'))).out).toBe(`${user} is signed out everywhere.\n`)
    expect(await taken()).toEqual([false, false, false])
    expect((await run(...of())).out).toBe(`${user} is not signed in anywhere.\n`)
    expect((await run(...of('--pool', 'admin'))).err).toContain(
      `UserNotFound: User "${user}" is not among the admins of the site: set "pool" (--pool) to data for a visitor`,
    )
  })
})
