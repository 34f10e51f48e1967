import { beforeEach, describe, expect, test } from 'vitest'

import { createApi, isOffline, needsStepUp } from './api.ts'
import { problemOf } from './problem.ts'

const ORIGIN = 'https://admin.shop.test'

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
}

/** The API over these responses, one for each call, with what was sent. */
function calling(...responses: readonly (Response | Error)[]) {
  const sent: Sent[] = []
  const left = [...responses]
  const api = createApi({
    origin: ORIGIN,
    session: () => ({
      accessToken: async () => 'first',
      freshToken: async (refused) => `after ${refused}`,
    }),
    fetch: async (url, init) => {
      sent.push({ url, method: init.method ?? 'GET', headers: new Headers(init.headers) })
      const next = left.shift()
      if (next === undefined || next instanceof Error) throw next ?? new Error('Nothing is left')
      return next
    },
  })
  return { api, sent }
}

const refusal = (status: number, error: object): Response => Response.json({ error }, { status })

beforeEach(() => {
  isOffline.value = false
  needsStepUp.value = false
})

describe('a call', () => {
  test('goes to the own origin with the token, and fills in the path', async () => {
    const { api, sent } = calling(Response.json({ userId: 'a/b' }))
    const user = await api.get('/admin/api/users/{userId}', { params: { userId: 'a/b' } })
    expect(user.userId).toBe('a/b')
    expect(sent[0]?.url).toBe(`${ORIGIN}/admin/api/users/a%2Fb`)
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer first')
  })

  test('is repeated once with another token where the first is refused', async () => {
    const { api, sent } = calling(
      refusal(401, { code: 'TokenExpired', message: 'Old' }),
      Response.json({ items: [], nextToken: null }),
    )
    await api.get('/admin/api/users')
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer first',
      'Bearer after first',
    ])
  })

  test('fails where the other token is refused, too', async () => {
    const refused = () => refusal(401, { code: 'Unauthorized', message: 'No' })
    const { api, sent } = calling(refused(), refused(), refused())
    await expect(api.get('/admin/api/users')).rejects.toMatchObject({ status: 401 })
    expect(sent).toHaveLength(2)
  })

  test('sends the idempotency key that it is given', async () => {
    const { api, sent } = calling(Response.json({}))
    await api.post('/admin/api/users', { body: { email: 'a@b.test' }, idempotencyKey: 'k-1' })
    expect(sent[0]?.headers.get('idempotency-key')).toBe('k-1')
  })

  test('says that the service is away, until one gets through', async () => {
    const { api } = calling(
      new TypeError('Failed to fetch'),
      Response.json({ items: [], nextToken: null }),
    )
    await expect(api.get('/admin/api/users')).rejects.toMatchObject({ code: 'NetworkError' })
    expect(isOffline.value).toBe(true)
    await api.get('/admin/api/users')
    expect(isOffline.value).toBe(false)
  })

  test('asks for a recent sign-in where the service does', async () => {
    const { api } = calling(
      refusal(403, { code: 'RecentSignInRequired', message: 'Sign in again' }),
    )
    await expect(
      api.delete('/admin/api/users/{userId}', { params: { userId: 'u' } }),
    ).rejects.toMatchObject({ status: 403 })
    expect(needsStepUp.value).toBe(true)
  })
})

describe('a problem', () => {
  test('has the sentence of the API, its id, and what is wrong with each field', async () => {
    const { api } = calling(
      refusal(400, {
        code: 'ValidationError',
        message: 'email: must be an address',
        requestId: 'r-1',
        details: [
          { field: 'email', message: 'must be an address' },
          { field: 'body.role', message: 'must be a role' },
        ],
      }),
    )
    const error = await api
      .post('/admin/api/users', { body: { email: 'x' } })
      .catch((thrown: unknown) => thrown)
    expect(problemOf(error)).toEqual({
      code: 'ValidationError',
      message: 'email: must be an address',
      status: 400,
      requestId: 'r-1',
      fields: { email: 'must be an address', role: 'must be a role' },
    })
  })

  test('has no fields where the error has none', () => {
    expect(problemOf(new Error('Broken'))).toMatchObject({ message: 'Broken', fields: {} })
  })
})
