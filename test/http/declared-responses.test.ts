import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'

import type { ResponseKind } from '#http/plugins/response-kinds.ts'
import { responseDifference } from '#test/declared-responses.ts'
import { ObservedApp } from '#test/observed-app.ts'

const schemas = {
  200: Type.Object({ at: Type.Date(), name: Type.Optional(Type.String()), rest: Type.Unknown() }),
}
const AT = '2026-01-02T03:04:05.678Z'
const json = (body: unknown, status = 200) => Response.json(body, { status })
const typed = (type: string, status = 200) =>
  new Response('', { status, headers: { 'content-type': type } })
const empty = (status: number) => new Response(null, { status })

describe('a response', () => {
  test.each<[Response, ResponseKind | undefined]>([
    [json({ at: AT, rest: [{ a: 1 }] }), undefined],
    [json({ at: AT, name: 'x', rest: null }), 'page'],
    [empty(204), 'no-content'],
    [empty(303), 'page'],
    [typed('text/html; charset=utf-8'), 'page'],
    [typed('text/event-stream'), 'events'],
    [typed('image/webp'), 'picture'],
  ])('is as declared: %#', async (response, responds) => {
    expect(await responseDifference({ schemas, responds }, response)).toBeUndefined()
  })

  test.each<[Response, ResponseKind | undefined, string]>([
    [json({ at: 'today', rest: 1 }), undefined, '/at '],
    [json({ rest: 1 }), undefined, '/at '],
    [json({ at: AT, rest: 1, more: 1 }), undefined, '/more '],
    [json({ at: AT, rest: 1 }, 202), undefined, '202 application/json'],
    [empty(204), undefined, '204 without a type'],
    [empty(200), 'no-content', '200 without a type'],
    [typed('text/html'), 'events', '200 text/html'],
    [typed('text/html', 201), 'page', '201 text/html'],
  ])('differs from what is declared: %#', async (response, responds, difference) => {
    expect(await responseDifference({ schemas, responds }, response)).toContain(difference)
  })
})

describe('the observed service', () => {
  const answers = (body: unknown) =>
    new ObservedApp(
      {
        routes: [{ method: 'GET', path: '/admin/api/things/:id', detail: {}, schemas }],
        fetch: () => json(body),
      },
      { securityEvents: { record: async () => {} } },
    )
  const request = new Request('http://one.test/admin/api/things/1')
  const peer = { address: '127.0.0.1' }

  test('refuses an error that its route does not declare', async () => {
    const refusing = (code: string) =>
      new ObservedApp(
        {
          routes: [
            {
              method: 'GET',
              path: '/admin/api/aliases/:address',
              detail: { 'x-authority': 'role:admin', 'x-errors': ['QuotaExceeded'] },
            },
          ],
          fetch: () => json({ error: { code } }, 409),
        },
        { securityEvents: { record: async () => {} } },
      )
    const alias = new Request('http://one.test/admin/api/aliases/a')
    for (const code of ['QuotaExceeded', 'AliasNotFound', 'Forbidden', 'ServiceUnavailable']) {
      const app = refusing(code)
      expect((await app.fetch(alias, peer)).status, code).toBe(409)
      expect(() => app.check()).not.toThrow()
    }
    const app = refusing('MailboxDisabled')
    expect((await app.fetch(alias, peer)).status).toBe(500)
    expect(() => app.check()).toThrow('GET /admin/api/aliases/:address: 409 MailboxDisabled')
  })

  test('passes on a response that is as declared', async () => {
    const app = answers({ at: AT, rest: 1 })
    expect(await (await app.fetch(request, peer)).json()).toEqual({ at: AT, rest: 1 })
    expect(() => app.check()).not.toThrow()
  })

  test('fails the call and the suite with one that differs', async () => {
    const app = answers({ rest: 1 })
    expect((await app.fetch(request, peer)).status).toBe(500)
    expect(() => app.check()).toThrow(/GET \/admin\/api\/things\/:id: \/at /)
  })
})
