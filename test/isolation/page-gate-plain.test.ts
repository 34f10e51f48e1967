import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { GatedPages, gateOf, isOpenToOpeners } from '#test/gated-pages.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
/** What browsers without Fetch Metadata send, and one that has it and no `Sec-CH-UA`. */
const BROWSERS = {
  'Safari 15': {
    ...PAGE,
    'user-agent':
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Safari/605.1.15',
  },
  'a program that looks like none': PAGE,
  'Firefox 140': {
    ...PAGE,
    ...NAVIGATION,
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'sec-fetch-site': 'none',
    'sec-fetch-user': '?1',
  },
} as const
const CHROMIUM = {
  ...PAGE,
  ...NAVIGATION,
  'sec-fetch-site': 'none',
  'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
}
const UNSAID = ['Safari 15', 'a program that looks like none'] as const

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', 'http://croft.test'],
] as const)('the pages for browsers that say less %s', (_where, baseUrl) => {
  const isSecure = baseUrl.startsWith('https:')
  let stack: Stack
  let pages: GatedPages
  beforeAll(async () => {
    stack = await startStack({ config: { baseUrl } })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    pages = await GatedPages.of(stack, HOST)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const visits = (method: string) => pages.visits.filter(({ route }) => route.method === method)

  test.each(Object.entries(BROWSERS))(
    'open to %s, in no frame and to no window that opened them',
    async (_browser, headers) => {
      const gets = visits('GET')
      expect(gets.length).toBeGreaterThan(40)
      let shown = 0
      for (const each of gets) {
        const answer = await pages.visit(each, headers)
        expect(answer.text, each.name).not.toContain('This page opens only by a link')
        const policy = isSecure && !isOpenToOpeners(each) ? 'same-origin' : undefined
        expect(answer.headers['cross-origin-opener-policy'], each.name).toBe(policy)
        expect(answer.headers['access-control-allow-origin'], each.name).toBeUndefined()
        if (isRedirect(answer)) continue
        shown += 1
        expectUnframed(answer, each.name)
      }
      expect(shown).toBeGreaterThan(20)
    },
  )

  test('say it more strictly to a Chromium that knows the stricter word', async () => {
    for (const each of visits('GET')) {
      const { headers } = await pages.visit(each, CHROMIUM)
      const policy = isSecure && !isOpenToOpeners(each) ? 'noopener-allow-popups' : undefined
      expect(headers['cross-origin-opener-policy'], each.name).toBe(policy)
    }
  })

  test.each(UNSAID)('take no form from %s that another site sent', async (browser) => {
    const posts = visits('POST').filter(({ route }) => gateOf(route)?.['foreignForms'] !== true)
    expect(posts.length).toBeGreaterThan(30)
    for (const each of posts) {
      for (const origin of ['https://evil.example', `https://sub.${HOST}`, 'null', '']) {
        const answer = await pages.visit(each, { ...BROWSERS[browser], origin })
        const where = `${each.name} ${origin}`
        expect(answer.status, where).toBe(403)
        expect(answer.text, where).toContain('This form was sent from another site')
        expect(answer.headers['set-cookie'], where).toBeUndefined()
        expectUnframed(answer, where)
      }
    }
  })

  test.each(UNSAID)('take no form from %s without the token of the page', async (browser) => {
    for (const each of visits('POST')) {
      const { pool } = pages.party(each.kind)
      for (const headers of [{}, { origin: new URL(pool.issuer).origin }]) {
        const cookie = await pages.cookie(each.kind)
        const answer = await pages.visit(each, { ...BROWSERS[browser], ...headers }, cookie)
        const where = `${each.name} ${JSON.stringify(headers)}`
        expect([303, 400, 403], where).toContain(answer.status)
        expect(answer.headers['set-cookie'] ?? '', where).not.toContain('croft_session')
        expectInside(answer, where)
        expect(await pages.isSignedIn(each.kind, cookie), where).toBe(true)
      }
    }
  })
})

const isRedirect = ({ status }: Answer): boolean => status >= 300 && status < 400

/** A page that is in no frame, or the way back to one of the pool's, and to no client. */
function expectInside(answer: Answer, where: string): void {
  if (!isRedirect(answer)) return expectUnframed(answer, where)
  expect(answer.headers['location'], where).toMatch(/^\/oidc\/[^/]+\/\w/)
}

function expectUnframed({ headers }: Answer, where: string): void {
  expect(headers, where).toMatchObject({
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  // A download is shown nowhere.
  if (headers['content-disposition']?.startsWith('attachment') === true) return
  expect(headers, where).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'strict-origin',
  })
}
