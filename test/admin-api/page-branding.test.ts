import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'

const PATH = '/admin/api/page-branding'
const SITES = ['one.test', 'two.test'] as const
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const LOGO = `data:image/png;base64,${DOT}`
const LOGO_PATH = /^\/admin\/public\/logo\/[0-9a-f]{16}$/
/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('the look of the hosted pages %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ sites: [...SITES], ...(baseUrl && { config: { baseUrl } }) })
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const put = async (host: string, body: unknown, options: CallOptions = {}) =>
    stack.call(host, 'PUT', PATH, { token: await stack.adminToken(host), body, ...options })
  const login = async (host: string, at: Stack = stack) =>
    at.call(host, 'GET', (await RelyingParty.of(stack, host)).page('login'))
  const isShown = async (host: string, what: string, at: Stack = stack): Promise<boolean> =>
    (await login(host, at)).text.includes(what)

  describe.each(SITES)('of %s', (host) => {
    const other = SITES.find((site) => site !== host) ?? host

    test('is its color, with what becomes of it where it could not be seen', async () => {
      const answer = await put(host, { color: '#FE0' })
      expect(answer).toMatchObject({ status: 200, json: { color: '#ffee00', logo: null } })
      const { shades } = answer.json
      expect(shades.dark).toEqual({ button: '#ffee00', buttonText: '#000000', link: '#ffee00' })
      expect(shades.light.link).not.toBe('#ffee00')

      const page = await login(host)
      const sheets = [...page.text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, css]) => css)
      expect(sheets).toHaveLength(2)
      expect(sheets[1]).toContain(`--link:${shades.light.link}`)
      const hashes = sheets.map((css) =>
        createHash('sha256')
          .update(css ?? '')
          .digest('base64'),
      )
      expect(page.headers['content-security-policy']).toContain(
        `style-src ${hashes.map((hash) => `'sha256-${hash}'`).join(' ')};`,
      )
      expect(await isShown(other, '#ffee00')).toBe(false)
    })

    test('is its logo, which is a picture and nothing else', async () => {
      const { json } = await put(host, { logo: LOGO })
      expect(json).toMatchObject({ color: '#ffee00', logo: expect.stringMatching(LOGO_PATH) })
      const page = await login(host)
      expect(page.text).toContain(`<img class="mark" src="${json.logo}" alt=""`)
      expect(page.text).toContain(`<link rel="icon" href="${json.logo}"`)
      expect(page.headers['content-security-policy']).toContain("img-src data: 'self';")
      expect(await stack.call(host, 'GET', json.logo)).toMatchObject({
        status: 200,
        headers: {
          'content-type': 'image/png',
          'content-length': String(Buffer.from(DOT, 'base64').length),
          'cache-control': 'public, max-age=31536000, immutable',
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
        },
      })
      const failure = await stack.call(host, 'GET', '/admin/public/onboarding/user')
      expect(failure.text).toContain(json.logo)
    })

    test('is taken away as it was given', async () => {
      const { json } = await put(host, { color: '#0a7d55', logo: LOGO })
      expect(await put(host, { logo: null })).toMatchObject({
        json: { color: '#0a7d55', logo: null },
      })
      expect(await stack.call(host, 'GET', json.logo)).toMatchObject({ status: 404 })
      expect(await put(host, { color: null })).toMatchObject({
        json: { color: null, logo: null, shades: null },
      })
      const page = await login(host)
      expect(page.text).toMatch(/class="mark mark-\d"/)
      expect(page.text.match(/<style>/g)).toHaveLength(1)
    })

    test.each([
      ['a word', { color: 'red' }, 'color'],
      ['four digits', { color: '#0a7d' }, 'color'],
      ['a style sheet', { color: '#000;}body{display:none' }, 'color'],
      ['an end of its element', { color: '</style>' }, 'color'],
      ['a number', { color: 0 }, 'color'],
      ['a picture elsewhere', { logo: 'https://evil.test/logo.png' }, 'logo'],
      ['an SVG', { logo: 'data:image/svg+xml;base64,PHN2Zy8+' }, 'logo'],
      ['a page that says it is a PNG', { logo: 'data:image/png;base64,PGh0bWw+' }, 'logo'],
      ['a JPEG that says it is a PNG', { logo: 'data:image/png;base64,/9j/4AAQ' }, 'logo'],
      ['too large a picture', { logo: LOGO.padEnd(44_000, 'A') }, 'logo'],
      ['nothing', {}, 'body'],
      ['an unknown field', { colour: '#000000' }, 'colour'],
    ])('is not %s', async (_what, body, field) => {
      const answer = await put(host, body)
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      expect(answer.json.error.details[0].field).toBe(field)
      expect((await login(host)).status).toBe(200)
    })

    test('is open to its super-admins and the operator only', async () => {
      const body = { color: '#123456' }
      const [admin, user, stranger] = await Promise.all([
        stack.adminToken(host, 'admin'),
        stack.adminToken(host, 'user'),
        stack.adminToken(other),
      ])
      const tries = [{ token: admin }, { token: user }, { token: stranger }, { token: 'a.b.c' }, {}]
      const statuses: number[] = []
      for (const options of tries) {
        for (const method of ['GET', 'PUT']) {
          const call = { ...options, ...(method === 'PUT' && { body }) }
          statuses.push((await stack.call(host, method, PATH, call)).status)
        }
      }
      expect(statuses).toEqual([403, 403, 403, 403, 401, 401, 401, 401, 401, 401])
      expect(await isShown(host, '#123456')).toBe(false)

      const portal = `/sites/${host}/page-branding`
      expect(await stack.portal('PUT', portal, body)).toMatchObject({ json: body })
      expect(await stack.portal('GET', portal)).toMatchObject({ json: body })
      expect(await isShown(host, '#123456')).toBe(true)
      const { json } = await stack.portal('GET', `/sites/${host}/audit?limit=100`)
      const events = (json.items as { event: string; actor: string }[]).filter(
        ({ event }) => event === 'branding.changed',
      )
      expect(events[0]).toMatchObject({ actor: 'operator', detail: { changed: 'color' } })
      expect(new Set(events.map(({ actor }) => actor)).size).toBe(2)
    })

    test('is refused with a body that is no JSON', async () => {
      const headers = { 'content-type': 'application/json' }
      const token = await stack.adminToken(host)
      const answer = await stack.call(host, 'PUT', PATH, { token, body: '{"color', headers })
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
    })

    test('is the same at every replica, and after a restart', async () => {
      const second = await startStack({ beside: stack })
      expect(await isShown(host, '#0a7d55', second)).toBe(false)
      await put(host, { color: '#0a7d55', logo: LOGO })
      await vi.waitUntil(() => isShown(host, '#0a7d55', second), PATIENCE)
      await second[Symbol.asyncDispose]()
      const later = await startStack({ beside: stack })
      expect(await isShown(host, '#0a7d55', later)).toBe(true)
      await later[Symbol.asyncDispose]()
    })
  })
})
