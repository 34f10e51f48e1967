import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

const ROUTE = '/sites/one.test/auth/providers'
const SECRET = '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e'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const google = (body: unknown, site = 'one.test') =>
  stack.portal('PUT', `/sites/${site}/auth/providers/google`, body)

const discovered = async (host = 'one.test') =>
  (await stack.call(host, 'GET', '/data/auth/config')).json.data.providers.google

describe('the Google provider of a site', () => {
  test('is off, with the default scopes, until it is configured', async () => {
    expect((await stack.portal('GET', ROUTE)).json).toEqual({ items: [], nextToken: null })
    expect(await discovered()).toEqual({
      enabled: false,
      identityProvider: 'Google',
      responseType: 'code',
      scopes: ['openid', 'email', 'profile'],
    })
  })

  test('needs a client id and a secret at first', async () => {
    const answers = [await google({ clientId: 'id' }), await google({ clientSecret: SECRET })]
    expect(answers.map(({ status, json }) => [status, json.error.details[0].field])).toEqual([
      [400, 'clientSecret'],
      [400, 'clientId'],
    ])
  })

  test('is Google itself by default, and shows everything but the secret', async () => {
    const put = await google({ clientId: 'id-1', clientSecret: SECRET })
    expect(put).toMatchObject({
      status: 200,
      json: {
        provider: 'Google',
        issuer: 'https://accounts.google.com',
        clientId: 'id-1',
        scopes: ['openid', 'email', 'profile'],
        enabled: true,
        redirectUri: expect.stringMatching(
          /^http:\/\/one\.test:\d+\/oidc\/[\w-]+\/oauth2\/idpresponse$/,
        ),
      },
    })
    const listed = await stack.portal('GET', ROUTE)
    expect(listed.json.items).toEqual([put.json])
    expect(put.text + listed.text).not.toContain(SECRET)
    expect(await discovered()).toMatchObject({ enabled: true })
  })

  test('keeps what a change leaves out, the secret included', async () => {
    const scopes = ['openid', 'https://www.googleapis.com/auth/userinfo.email', 'profile', 'a:b']
    expect((await google({ scopes })).json).toMatchObject({ clientId: 'id-1', scopes })
    expect((await google({ enabled: false })).json).toMatchObject({ scopes, enabled: false })
    expect(await discovered()).toMatchObject({ enabled: false, scopes })
  })

  test('is another one on another site', async () => {
    await google({ clientId: 'id-2', clientSecret: 's2', scopes: ['openid'] }, 'two.test')
    expect(await discovered('two.test')).toMatchObject({ enabled: true, scopes: ['openid'] })
    expect((await stack.portal('GET', ROUTE)).json.items[0]).toMatchObject({ clientId: 'id-1' })
  })

  test('is known to another replica at once', async () => {
    await using other = await startStack({ beside: stack })
    const seen = async () =>
      (await other.call('one.test', 'GET', '/data/auth/config')).json.data.providers.google.scopes
    await seen()
    await google({ scopes: ['openid', 'fresh'] })
    await expect.poll(seen, { timeout: 10_000 }).toEqual(['openid', 'fresh'])
  })

  test.each<[string, object, string]>([
    ['an issuer over http', { issuer: 'http://idp.test', clientSecret: 's' }, 'issuer'],
    ['an issuer that is no URL', { issuer: 'accounts.google.com', clientSecret: 's' }, 'issuer'],
    ['an issuer with a query', { issuer: 'https://idp.test?a', clientSecret: 's' }, 'issuer'],
    ['an issuer with a fragment', { issuer: 'https://idp.test#a', clientSecret: 's' }, 'issuer'],
    ['credentials in the issuer', { issuer: 'https://a:b@idp.test', clientSecret: 's' }, 'issuer'],
    ['another scheme', { issuer: 'file:///etc/passwd', clientSecret: 's' }, 'issuer'],
    ['a name that only looks local', { issuer: 'http://localhost.idp.test' }, 'issuer'],
    ['another issuer with the old secret', { issuer: 'https://idp.test' }, 'clientSecret'],
    ['another client with the old secret', { clientId: 'id-9' }, 'clientSecret'],
    ['scopes without openid', { scopes: ['email'] }, 'scopes'],
    ['no scopes', { scopes: [] }, 'scopes'],
    ['two scopes in one', { scopes: ['openid email'] }, 'scopes[0]'],
    ['a quote in a scope', { scopes: ['openid"'] }, 'scopes[0]'],
    ['a scope twice', { scopes: ['openid', 'openid'] }, 'scopes'],
    ['a blank in the client id', { clientId: 'a b' }, 'clientId'],
    ['a line break in the secret', { clientSecret: 'a\r\nb' }, 'clientSecret'],
    ['an unknown field', { tenant: 'x' }, 'tenant'],
  ])('refuses %s', async (_what, body, field) => {
    const answer = await google(body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.details[0].field).toBe(field)
  })

  test('takes a plain issuer on this machine, for development', async () => {
    const issuer = 'http://localhost:9999'
    expect((await google({ issuer, clientSecret: 's' })).json).toMatchObject({ issuer })
  })

  test('can be removed, once', async () => {
    expect((await stack.portal('DELETE', `${ROUTE}/google`)).status).toBe(204)
    expect(await stack.portal('DELETE', `${ROUTE}/google`)).toMatchObject({
      status: 404,
      json: { error: { code: 'ProviderNotFound' } },
    })
    expect(await discovered()).toMatchObject({ enabled: false })
  })

  test('has its secret sealed, with the site’s key', async () => {
    await google({ clientId: 'id-3', clientSecret: SECRET })
    await asAdmin(async (admin) => {
      const [row] = await admin<{ sealed: Buffer; whole: string }[]>`
        select sealed_client_secret as sealed, to_jsonb(p)::text as whole
        from identity_provider p where client_id = 'id-3'`
      expect(row?.sealed.length).toBeGreaterThan(SECRET.length)
      expect(row?.sealed.includes(SECRET)).toBe(false)
      expect(row?.whole).not.toContain(SECRET)
    }, stack.database.url)
  })

  test('leaves each change in the audit trail, without the secret', async () => {
    await asAdmin(async (admin) => {
      const events = await admin<{ actor: string; detail: object }[]>`
        select actor, detail from security_event
        where event = 'settings.changed' and detail ->> 'provider' = 'Google'
        order by at desc`
      expect(events[0]).toEqual({
        actor: 'operator',
        detail: {
          provider: 'Google',
          action: 'configured',
          issuer: 'https://accounts.google.com',
        },
      })
      expect(events.map(({ detail }) => detail)).toContainEqual({
        provider: 'Google',
        action: 'removed',
      })
      expect(JSON.stringify(events)).not.toContain(SECRET)
    }, stack.database.url)
  })
})
