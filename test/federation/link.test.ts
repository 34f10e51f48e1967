import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import { authorizeUrlFor, link, linkTokens, startLink } from '#test/google-link.ts'
import {
  accountOf,
  answerOf,
  googleFor,
  isProviderCallback,
  lastEvent,
  setUpGoogle,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { type SignedInPerson, methodsOf, pageOf, signUp } from '#test/visitors.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'
const NOT_LINKED = { enabled: false }
const LINKED = { enabled: true, linkedAt: expect.stringMatching(/Z$/) }

let stack: Stack
let google: FakeGoogle
beforeAll(async () => {
  stack = await startStack()
  google = await googleFor(stack, [HOST])
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

let people = 0
/** A person with a password, and a Google account of another address. */
async function somebody(): Promise<SignedInPerson> {
  const name = `p${++people}`
  const person = await signUp(stack, HOST, `${name}@example.test`)
  google.person = { subject: `g-${name}`, email: `${name}@gmail.test` }
  return person
}

const googleOf = async ({ token }: SignedInPerson) => (await methodsOf(stack, HOST, token)).google

const identities = (): Promise<number> =>
  asSuperuser(stack, async (sql) => {
    const rows = await sql`select 1 from user_identity`
    return rows.length
  })

const clientIds = async () => {
  const { data } = (await stack.portal('GET', `/sites/${HOST}/auth`)).json
  return { own: data.clients.default.clientId, link: data.clients.link.clientId }
}

describe('linking Google', () => {
  test('adds it to the account of the person who asks, from the address that they are given', async () => {
    const person = await somebody()
    expect(await googleOf(person)).toEqual(NOT_LINKED)
    const attempt = await link(stack, HOST, person)
    const { answer, state, walk } = attempt
    const ids = await clientIds()
    const url = new URL(answer.json.data.authorizeUrl)
    expect(answer.json).toEqual({
      ok: true,
      data: {
        authorizeUrl: expect.any(String),
        clientId: ids.link,
        expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    })
    expect(Object.keys(answer.json.data).sort()).toEqual(['authorizeUrl', 'clientId', 'expiresAt'])
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: ids.link,
      response_type: 'code',
      identity_provider: 'Google',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      state,
    })
    expect(url.pathname).toMatch(/^\/oidc\/[\w-]+\/oauth2\/authorize$/)
    expect(answerOf(walk)).toMatchObject({ code: expect.any(String), state })
    expect(await googleOf(person)).toEqual(LINKED)

    const tokens = await linkTokens(stack, HOST, attempt)
    expect(tokens.status, tokens.text).toBe(200)
    expect(decodeJwt(tokens.json.access_token)).toMatchObject({
      sub: person.sub,
      client_id: ids.link,
    })
    expect(await mailTo(stack, person.email, 'provider-linked')).toMatchObject({ to: person.email })
    expect(await lastEvent(stack, 'provider.linked')).toMatchObject({
      sub: person.sub,
      client_id: ids.link,
      detail: { provider: 'Google', by: 'owner' },
    })
  })

  test('lets its owner sign in with either from then on', async () => {
    const person = await somebody()
    await link(stack, HOST, person)
    const { sub, email } = await accountOf(stack, await walkToGoogle(stack, HOST))
    expect({ sub, email }).toEqual({ sub: person.sub, email: person.email })
    expect(await methodsOf(stack, HOST, person.token)).toEqual({
      password: { enabled: true },
      google: LINKED,
    })
  })

  test('leaves tokens of the link client useless for everything else', async () => {
    const person = await somebody()
    const tokens = await linkTokens(stack, HOST, await link(stack, HOST, person))
    const token = tokens.json.access_token
    expect(await stack.call(HOST, 'GET', '/data/auth/methods', { token })).toMatchObject({
      status: 401,
    })
    expect((await startLink(stack, HOST, token)).answer.status).toBe(401)
  })

  test('takes any Google account that its owner has, whatever Google says of its address', async () => {
    const person = await somebody()
    google.person = { subject: 'g-odd', email: 'odd@gmail.test', emailVerified: false }
    await link(stack, HOST, person)
    expect(await googleOf(person)).toEqual(LINKED)
    google.person = { subject: 'g-odd' }
    expect(await accountOf(stack, await walkToGoogle(stack, HOST))).toMatchObject({
      sub: person.sub,
      email: person.email,
    })
  })

  test('works in the browser of an application that signed in without our pages', async () => {
    const person = await somebody()
    const { answer, url } = await authorizeUrlFor(stack, HOST, person.token)
    const browser = new WalkingBrowser()
    browser.keep(new URL(url), answer.headers['set-cookie'] ?? '')
    expect(browser.cookie('croft_link')).toMatch(/^[\w-]{43}$/)
    expect(answerOf(await browser.open(url))).toHaveProperty('code')
    expect(await googleOf(person)).toEqual(LINKED)
  })

  test('goes on when another replica takes over at any step', async () => {
    await using other = await startStack({ beside: stack })
    const person = await somebody()
    const redirectUri = `${stack.baseUrl(HOST)}/auth/callback`
    const { url } = await authorizeUrlFor(other, HOST, person.token, { redirectUri })
    const back = await person.browser.open(url, isProviderCallback)
    person.browser.ports.set(String(stack.port), String(other.port))
    expect(answerOf(await person.browser.open(back.url.href))).toHaveProperty('code')
    expect(await googleOf(person)).toEqual(LINKED)
  })

  test('is possible again once the site has gone over to another provider', async () => {
    const person = await somebody()
    await link(stack, HOST, person)
    await using successor = await googleFor(stack, [HOST])
    successor.person = { subject: 'other-world', email: 'x@gmail.test' }
    expect(await googleOf(person)).toEqual(NOT_LINKED)
    await link(stack, HOST, person)
    expect(await googleOf(person)).toEqual(LINKED)
    await setUpGoogle(stack, HOST, google.issuer)
    expect(await googleOf(person)).toEqual(NOT_LINKED)
  })
})

describe('a link is not begun', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['to an address that is not registered', { redirectUri: 'https://evil.test/' }, 'redirectUri'],
    ['to one with the same prefix', { redirectUri: 'http://one.test/auth' }, 'redirectUri'],
    ['without a redirect URI', { redirectUri: undefined }, 'redirectUri'],
    ['without a code challenge', { codeChallenge: undefined }, 'codeChallenge'],
    ['with a short code challenge', { codeChallenge: 'abc' }, 'codeChallenge'],
    ['with a plain code challenge', { codeChallengeMethod: 'plain' }, 'codeChallengeMethod'],
    ['with an empty state', { state: '' }, 'state'],
    ['with an endless state', { state: 'x'.repeat(1025) }, 'state'],
    ['with a control character in the state', { state: 'a\u0000b' }, 'body'],
    ['with an unknown field', { sub: 'other' }, 'sub'],
  ])('%s', async (_what, changes, field) => {
    const token = await stack.dataToken(HOST)
    const { answer } = await startLink(stack, HOST, token, changes)
    expect(answer).toMatchObject({
      status: 400,
      json: { ok: false, error: { code: 'ValidationError', details: [{ field }] } },
    })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('where the site has no Google', async () => {
    const token = await stack.dataToken('two.test')
    expect((await startLink(stack, 'two.test', token)).answer).toMatchObject({
      status: 404,
      json: { ok: false, error: { code: 'ProviderNotEnabled' } },
    })
  })

  test('without a proof of its owner, however recent the sign-in is', async () => {
    const { token } = await somebody()
    const none = (await startLink(stack, HOST, token, { proof: undefined })).answer
    expect(none).toMatchObject({
      status: 403,
      json: {
        ok: false,
        error: {
          code: 'RecentSignInRequired',
          message: expect.stringContaining('POST /data/auth/proof/start'),
        },
      },
    })
    for (const proof of [{ currentPassword: 'Wr0ng-horse' }, { proofCode: '000000' }]) {
      const wrong = (await startLink(stack, HOST, token, { proof })).answer
      expect(wrong).toMatchObject({
        status: 400,
        json: { error: { code: 'ValidationError', details: [{ field: 'currentPassword' }] } },
      })
      expect(wrong.headers['set-cookie']).toBeUndefined()
    }
  })

  test('with an empty proof, or one of another shape', async () => {
    const { token } = await somebody()
    for (const proof of [{}, { password: 'x' }, 'x']) {
      expect((await startLink(stack, HOST, token, { proof })).answer.status).toBe(400)
    }
  })

  test('by an account that is linked', async () => {
    const person = await somebody()
    await link(stack, HOST, person)
    expect((await startLink(stack, HOST, person.token)).answer).toMatchObject({
      status: 409,
      json: { ok: false, error: { code: 'ProviderAlreadyLinked' } },
    })
  })

  test('by a caller who is no visitor', async () => {
    for (const token of [undefined, await stack.adminToken(HOST), stack.operatorKey]) {
      expect((await startLink(stack, HOST, token)).answer.status).toBe(401)
    }
  })
})

describe('a link has no effect', () => {
  const refusedWith = (code: string) => ({
    error: 'access_denied',
    error_description: expect.stringMatching(new RegExp(`^${code}: `)),
  })

  test('when the Google account belongs to another account', async () => {
    const [owner, other] = [await somebody(), await somebody()]
    await link(stack, HOST, owner)
    const { walk, state } = await link(stack, HOST, other)
    expect(answerOf(walk)).toMatchObject({ ...refusedWith('ProviderLinkedToOtherAccount'), state })
    expect(await lastEvent(stack, 'provider.refused')).toMatchObject({ sub: other.sub })
    expect(await googleOf(other)).toEqual(NOT_LINKED)
    expect(await accountOf(stack, await walkToGoogle(stack, HOST))).toMatchObject({
      sub: owner.sub,
    })
    expect(await allMailTo(stack, other.email, 'provider-linked')).toEqual([])
  })

  test('when the account was linked with another Google account since', async () => {
    const person = await somebody()
    const late = await authorizeUrlFor(stack, HOST, person.token)
    const later = await authorizeUrlFor(stack, HOST, person.token)
    const back = await person.browser.open(later.url, isProviderCallback)
    person.browser.forget('127.0.0.1')
    google.person = { subject: 'g-quicker', email: 'quicker@gmail.test' }
    expect(answerOf(await link(stack, HOST, person).then(({ walk }) => walk))).toHaveProperty(
      'code',
    )
    expect(answerOf(await person.browser.open(back.url.href))).toMatchObject(
      refusedWith('ProviderAlreadyLinked'),
    )
    expect(answerOf(await person.browser.open(late.url))).toMatchObject(
      refusedWith('ProviderAlreadyLinked'),
    )
  })

  test('for all but one of two accounts that ask for one Google account at the same moment', async () => {
    const [one, other] = [await somebody(), await somebody()]
    const before = await identities()
    const backs = []
    for (const person of [one, other]) {
      const { url } = await authorizeUrlFor(stack, HOST, person.token)
      backs.push({ person, back: await person.browser.open(url, isProviderCallback) })
    }
    const ends = await Promise.all(
      backs.map(({ person, back }) => person.browser.open(back.url.href)),
    )
    const codes = ends.map((end) => answerOf(end)['error_description']?.split(':')[0])
    expect(new Set(codes)).toEqual(new Set(['ProviderLinkedToOtherAccount', undefined]))
    expect(await identities()).toBe(before + 1)
  })

  test('when its owner was signed out everywhere on the way', async () => {
    const person = await somebody()
    const before = await identities()
    const { url, answer } = await authorizeUrlFor(stack, HOST, person.token)
    const back = await person.browser.open(url, isProviderCallback)
    const site = await stack.context.sites.find(HOST)
    const { userPoolId } = await stack.context.pools.discovery(site)
    await stack.context.users.revokeTokens(site, userPoolId, person.sub)
    const end = await person.browser.open(back.url.href)
    expect(answerOf(end)).toMatchObject(refusedWith('RecentSignInRequired'))
    expect(answerOf(await person.browser.open(url))).toMatchObject({ error: 'login_required' })
    person.browser.keep(new URL(url), answer.headers['set-cookie'] ?? '')
    expect(answerOf(await person.browser.open(url))).toMatchObject(
      refusedWith('RecentSignInRequired'),
    )
    expect(await identities()).toBe(before)
  })
})

describe('the address that a link begins at', () => {
  const forbidden = {
    answer: { status: 403, text: expect.stringContaining('Go back to your account') },
  }

  test('is refused in the browser of another user who is signed in', async () => {
    const [attacker, victim] = [await somebody(), await somebody()]
    const { url } = await authorizeUrlFor(stack, HOST, attacker.token)
    google.asked.length = 0
    expect(await victim.browser.open(url)).toMatchObject(forbidden)
    expect(google.asked).toEqual([])
    expect([await googleOf(attacker), await googleOf(victim)]).toEqual([NOT_LINKED, NOT_LINKED])
  })

  test('is refused in a browser without a session', async () => {
    const attacker = await somebody()
    const { url, state } = await authorizeUrlFor(stack, HOST, attacker.token)
    google.asked.length = 0
    const walk = await new WalkingBrowser().open(url)
    expect(answerOf(walk)).toMatchObject({ error: 'login_required', state })
    expect(google.asked).toEqual([])
    expect(await googleOf(attacker)).toEqual(NOT_LINKED)
  })

  test('leads to an answer that is refused in any other browser', async () => {
    const [attacker, victim] = [await somebody(), await somebody()]
    const { url } = await authorizeUrlFor(stack, HOST, attacker.token)
    const back = await attacker.browser.open(url, isProviderCallback)
    expect((await victim.browser.open(back.url.href)).answer.status).toBe(410)
    expect([await googleOf(attacker), await googleOf(victim)]).toEqual([NOT_LINKED, NOT_LINKED])
  })

  test.each<[string, (url: URL) => void]>([
    ['without its ticket', (url) => url.searchParams.delete('link_ticket')],
    ['with an unknown ticket', (url) => url.searchParams.set('link_ticket', 'A'.repeat(300))],
    ['with a ticket that is none', (url) => url.searchParams.set('link_ticket', '../x')],
    [
      'with another code challenge',
      (url) => url.searchParams.set('code_challenge', 'B'.repeat(43)),
    ],
    [
      'with one letter of the ticket changed',
      ({ searchParams }) => {
        const ticket = searchParams.get('link_ticket') ?? ''
        const at = ticket.length >> 1
        const letter = ticket[at] === 'A' ? 'B' : 'A'
        searchParams.set('link_ticket', ticket.slice(0, at) + letter + ticket.slice(at + 1))
      },
    ],
  ])('is refused %s', async (_what, change) => {
    const person = await somebody()
    const { url } = await authorizeUrlFor(stack, HOST, person.token)
    const changed = new URL(url)
    change(changed)
    expect(await person.browser.open(changed.href)).toMatchObject(forbidden)
    expect(await googleOf(person)).toEqual(NOT_LINKED)
  })

  test('is refused with the ticket of another account, in any browser', async () => {
    const [one, other] = [await somebody(), await somebody()]
    const theirs = new URL((await authorizeUrlFor(stack, HOST, other.token)).url)
    const mine = new URL((await authorizeUrlFor(stack, HOST, one.token)).url)
    mine.searchParams.set('link_ticket', theirs.searchParams.get('link_ticket') ?? '')
    expect(await one.browser.open(mine.href)).toMatchObject(forbidden)
    expect(await other.browser.open(mine.href)).toMatchObject(forbidden)
  })

  test('is good for ten minutes', async () => {
    const person = await somebody()
    const { url, answer } = await authorizeUrlFor(stack, HOST, person.token)
    const seconds = (Date.parse(answer.json.data.expiresAt) - Date.now()) / 1000
    expect(seconds).toBeGreaterThan(540)
    expect(seconds).toBeLessThanOrEqual(600)
    const clock = { now: () => new Date(Date.now() + 601_000) }
    await using later = await startStack({ beside: stack, platform: { clock } })
    person.browser.ports.set(String(stack.port), String(later.port))
    expect(await person.browser.open(url)).toMatchObject(forbidden)
  })

  test('gives no code for a password', async () => {
    const person = await somebody()
    const { url } = await authorizeUrlFor(stack, HOST, person.token)
    const page = await new WalkingBrowser().open(pageOf({ authorizeUrl: url }, 'login'))
    expect(answerOf(page)).toMatchObject({ error: 'login_required' })
    const party = await RelyingParty.of(stack, HOST)
    const { link: client_id } = await clientIds()
    const changes = { client_id, identity_provider: 'Google' }
    const { location } = await party.signIn(person.sub, { changes })
    expect(answerOf({ url: location })).toMatchObject({ error: 'unauthorized_client' })
    expect(answerOf({ url: location })).not.toHaveProperty('code')
  })
})
