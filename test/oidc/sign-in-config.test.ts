import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (host: string, path: string) => stack.call(host, 'GET', path)

const POOL_ID = /^[a-z]{2}(?:-[a-z]+)+-\d_[A-Za-z0-9]{9}$/
const CLIENT_ID = /^[a-z0-9]{26}$/
const SCOPES = ['openid', 'email', 'profile']

const issuerOn = (host: string) =>
  expect.stringMatching(new RegExp(`^${stack.baseUrl(host)}/oidc/[\\w-]+$`))

describe('the bootstrap configuration', () => {
  test.each(['one.test', 'two.test'])('of %s has the fields of the interface', async (host) => {
    const answer = await get(host, '/admin/public/config')
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      siteId: expect.stringMatching(/^site_/),
      siteDomain: host,
      region: expect.any(String),
      api: { basePath: '/admin/api' },
      auth: {
        mode: 'hosted',
        userPoolId: expect.stringMatching(POOL_ID),
        clientId: expect.stringMatching(CLIENT_ID),
        issuer: issuerOn(host),
        domain: answer.json.auth.issuer,
        scope: SCOPES,
        redirectUri: `${stack.baseUrl(host)}/admin/callback`,
        logoutUri: `${stack.baseUrl(host)}/admin`,
      },
    })
    expect(answer.json.auth.issuer.endsWith(`/oidc/${answer.json.auth.userPoolId}`)).toBe(true)
    expect(answer.json.auth.userPoolId.startsWith(`${answer.json.region}_`)).toBe(true)
  })
})

describe('the visitors’ discovery', () => {
  test('has the fields of the contract, in the envelope', async () => {
    const { status, json } = await get('one.test', '/data/auth/config')
    expect(status).toBe(200)
    expect(json).toEqual({
      ok: true,
      data: {
        enabled: true,
        userPoolId: expect.stringMatching(POOL_ID),
        userPoolClientId: expect.stringMatching(CLIENT_ID),
        issuer: issuerOn('one.test'),
        region: expect.any(String),
        domain: json.data.issuer,
        providers: {
          google: {
            enabled: false,
            identityProvider: 'Google',
            responseType: 'code',
            scopes: SCOPES,
          },
        },
      },
    })
  })

  test('has the basic fields alone under its public name', async () => {
    const full = await get('one.test', '/data/auth/config')
    const { enabled, userPoolId, userPoolClientId, issuer, region } = full.json.data
    const basic = await get('one.test', '/data/public/auth/config')
    expect(basic.json).toEqual({
      ok: true,
      data: { enabled, userPoolId, userPoolClientId, issuer, region },
    })
  })

  test('names another pool on another site, and another pool than the admins’', async () => {
    const ids = [
      (await get('one.test', '/data/auth/config')).json.data.userPoolId,
      (await get('two.test', '/data/auth/config')).json.data.userPoolId,
      (await get('one.test', '/admin/public/config')).json.auth.userPoolId,
      (await get('two.test', '/admin/public/config')).json.auth.userPoolId,
    ]
    expect(new Set(ids).size).toBe(4)
  })
})
