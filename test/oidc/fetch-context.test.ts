import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']
const PAGE = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const FRAME = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
const SCRIPT = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }
const SILENT = { prompt: 'none' }

type Outcome = 'code' | 'login_required' | 'refused' | 'sign-in page'
type Row = readonly [
  what: string,
  kind: PoolKind,
  headers: Record<string, string>,
  changes: Record<string, string>,
  expected: Outcome,
]

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test', 'login_required', 'sign-in page'],
  ['over plain HTTP', 'http://croft.test', 'code', 'code'],
] as const)('an authorization request %s', (_where, baseUrl, unsaidSilently, unsaid) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, config: { baseUrl } })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const rows: readonly Row[] = [
    ['a page', 'admin', PAGE, SILENT, 'code'],
    ['a page that may ask', 'admin', PAGE, {}, 'code'],
    ['a page', 'data', PAGE, SILENT, 'code'],
    ['a script', 'admin', SCRIPT, SILENT, 'refused'],
    ['a script that may ask', 'admin', SCRIPT, {}, 'refused'],
    ['a script of this origin', 'admin', { ...SCRIPT, ...SAME_ORIGIN }, SILENT, 'refused'],
    ['a script', 'data', SCRIPT, SILENT, 'refused'],
    ['a script that may ask', 'data', SCRIPT, {}, 'refused'],
    ['a frame', 'admin', FRAME, SILENT, 'refused'],
    ['a frame of this origin', 'admin', { ...FRAME, ...SAME_ORIGIN }, SILENT, 'refused'],
    ['a frame of this origin', 'data', { ...FRAME, ...SAME_ORIGIN }, SILENT, 'code'],
    ['a frame of a page of the client', 'data', FRAME, SILENT, 'code'],
    ['a frame of a stranger’s page', 'data', FRAME, SILENT, 'refused'],
    ['a frame of who knows what', 'data', FRAME, SILENT, 'refused'],
    ['a frame that may ask', 'data', { ...FRAME, ...SAME_ORIGIN }, {}, 'refused'],
    ['who does not say', 'admin', {}, SILENT, unsaidSilently],
    ['who does not say', 'admin', {}, {}, unsaid],
    ['who does not say', 'data', {}, SILENT, 'code'],
  ]

  describe.each(SITES)('to %s', (host) => {
    test.each(rows)('from %s, at the %s pool', async (what, kind, headers, changes, expected) => {
      const client = await RelyingParty.of(stack, host, kind)
      const session = await client.signIn(
        await client.user(kind === 'data' ? 'vic@x.org' : `ann@${host}`),
      )
      const answer = await stack.call(host, 'GET', client.page('oauth2/authorize', changes), {
        headers: { ...headers, ...refererOf(what, client), cookie: client.cookieOf(session) },
      })
      expect(outcomeOf(answer)).toBe(expected)
      expect(answer.status).toBe(expected === 'refused' ? 403 : 303)
    })

    test('may go on with the next one after one that was refused', async () => {
      const client = await RelyingParty.of(stack, host, 'admin')
      const { token } = await client.signIn(await client.user(`ann@${host}`))
      const cookie = client.cookieOf({ token })
      const path = client.page('oauth2/authorize', SILENT)
      const refused = await stack.call(host, 'GET', path, { headers: { ...SCRIPT, cookie } })
      const answered = await stack.call(host, 'GET', path, { headers: { ...PAGE, cookie } })
      expect([outcomeOf(refused), outcomeOf(answered)]).toEqual(['refused', 'code'])
    })
  })

  test('and its pages keep windows that opened them away where an admin signs in', async () => {
    for (const page of ['oauth2/authorize', 'login', 'forgotPassword']) {
      const policies = []
      for (const kind of ['admin', 'data'] as const) {
        const client = await RelyingParty.of(stack, 'one.test', kind)
        const answer = await stack.call('one.test', 'GET', client.page(page))
        policies.push(answer.headers['cross-origin-opener-policy'])
      }
      const own = baseUrl.startsWith('https:') ? 'same-origin' : undefined
      expect(policies, page).toEqual([own, undefined])
    }
  })
})

/** What a browser says of the page that a frame is on. */
function refererOf(what: string, client: RelyingParty): Record<string, string> {
  if (what.endsWith('page of the client'))
    return { referer: `${new URL(client.redirectUri).origin}/` }
  return what.endsWith('stranger’s page') ? { referer: 'https://stranger.example/' } : {}
}

function outcomeOf(answer: {
  status: number
  headers: Record<string, string>
  text: string
}): string {
  const location = answer.headers['location']
  if (location === undefined)
    return answer.text.includes('This page opens only') ? 'refused' : answer.text
  const { pathname, searchParams } = new URL(location, 'https://one.test')
  if (pathname.endsWith('/login')) return 'sign-in page'
  return searchParams.get('error') ?? (searchParams.has('code') ? 'code' : location)
}
