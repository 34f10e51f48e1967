import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { MAX_UPLOAD_BYTES } from '#http/bodies/request-body.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'

const KIB = 1024
const MIB = 1024 * KIB

const NAMES: Record<string, string> = {
  userPoolId: 'eu-central-1_000000000',
  sha256: '0'.repeat(64),
}

/** Who may come without a token. A new entry is a decision: it belongs in review, not in a snapshot update. */
const OPEN = [
  'ALL /data/public/:operation',
  'ALL /data/public/:operation/*',
  'GET /*',
  'GET /admin',
  'GET /admin/callback',
  'GET /admin/public/address/confirm',
  'GET /admin/public/address/undo',
  'GET /admin/public/config',
  'GET /admin/public/forwarding/verify',
  'GET /admin/public/logo/:version',
  'GET /admin/public/onboarding/super-admin',
  'GET /admin/public/onboarding/user',
  'GET /data/auth/config',
  'GET /data/openapi.json',
  'GET /data/public/auth/config',
  'GET /healthz',
  'GET /oidc/:userPoolId/.well-known/jwks.json',
  'GET /oidc/:userPoolId/.well-known/openid-configuration',
  'GET /oidc/:userPoolId/account',
  'GET /oidc/:userPoolId/account/address',
  'GET /oidc/:userPoolId/account/delete',
  'GET /oidc/:userPoolId/account/export',
  'GET /oidc/:userPoolId/account/google',
  'GET /oidc/:userPoolId/account/name',
  'GET /oidc/:userPoolId/account/passkey',
  'GET /oidc/:userPoolId/account/passkey/remove',
  'GET /oidc/:userPoolId/account/password',
  'GET /oidc/:userPoolId/account/recovery-codes',
  'GET /oidc/:userPoolId/account/restore',
  'GET /oidc/:userPoolId/account/totp',
  'GET /oidc/:userPoolId/account/totp/remove',
  'GET /oidc/:userPoolId/clients/:clientId/logo',
  'GET /oidc/:userPoolId/confirmForgotPassword',
  'GET /oidc/:userPoolId/confirmUser',
  'GET /oidc/:userPoolId/consent',
  'GET /oidc/:userPoolId/forgotPassword',
  'GET /oidc/:userPoolId/login',
  'GET /oidc/:userPoolId/logout',
  'GET /oidc/:userPoolId/logout/former',
  'GET /oidc/:userPoolId/mfa',
  'GET /oidc/:userPoolId/mfaSetup',
  'GET /oidc/:userPoolId/oauth2/authorize',
  'GET /oidc/:userPoolId/oauth2/idpresponse',
  'GET /oidc/:userPoolId/oauth2/userInfo',
  'GET /oidc/:userPoolId/passkey',
  'GET /oidc/:userPoolId/signup',
  'GET /readyz',
  'HEAD /*',
  'POST /admin/public/address/confirm',
  'POST /admin/public/address/undo',
  'POST /admin/public/contact',
  'POST /admin/public/forwarding/verify',
  'POST /admin/public/onboarding/super-admin',
  'POST /admin/public/onboarding/user',
  'POST /admin/public/webhooks/deploy',
  'POST /data/public/:operation',
  'POST /oidc/:userPoolId',
  'POST /oidc/:userPoolId/account/address',
  'POST /oidc/:userPoolId/account/applications',
  'POST /oidc/:userPoolId/account/delete',
  'POST /oidc/:userPoolId/account/google',
  'POST /oidc/:userPoolId/account/name',
  'POST /oidc/:userPoolId/account/passkey',
  'POST /oidc/:userPoolId/account/passkey/remove',
  'POST /oidc/:userPoolId/account/password',
  'POST /oidc/:userPoolId/account/recovery-codes',
  'POST /oidc/:userPoolId/account/restore',
  'POST /oidc/:userPoolId/account/sessions',
  'POST /oidc/:userPoolId/account/totp',
  'POST /oidc/:userPoolId/account/totp/remove',
  'POST /oidc/:userPoolId/confirmForgotPassword',
  'POST /oidc/:userPoolId/confirmUser',
  'POST /oidc/:userPoolId/consent',
  'POST /oidc/:userPoolId/forgotPassword',
  'POST /oidc/:userPoolId/login',
  'POST /oidc/:userPoolId/logout',
  'POST /oidc/:userPoolId/mfa',
  'POST /oidc/:userPoolId/mfaSetup',
  'POST /oidc/:userPoolId/oauth2/authorize',
  'POST /oidc/:userPoolId/oauth2/revoke',
  'POST /oidc/:userPoolId/oauth2/token',
  'POST /oidc/:userPoolId/oauth2/userInfo',
  'POST /oidc/:userPoolId/passkey',
  'POST /oidc/:userPoolId/signup',
]

let stack: Stack
let routes: readonly RouteDeclaration[]
let credentials: Record<string, CallOptions>
let valid: { visitor: string; user: string; admin: string }

const authorityOf = (route: RouteDeclaration) => String(route.detail['x-authority'])
const EVERY_METHOD = 'ALL'
/** Of a route that serves every method any one is tried. */
const methodOf = ({ method }: RouteDeclaration) => (method === EVERY_METHOD ? 'PATCH' : method)
const pathOf = (route: RouteDeclaration) =>
  route.path.replaceAll(/:(\w+)/g, (_all, name: string) => NAMES[name] ?? 'x')
const nameOf = ({ method, path }: RouteDeclaration) => `${method} ${path.replace(/(?<=.)\/$/, '')}`

beforeAll(async () => {
  stack = await startStack()
  routes = stack.app.routes
  await using yesterday = await startStack({
    beside: stack,
    platform: { clock: { now: () => new Date(Date.now() - 24 * 3_600_000) } },
  })
  valid = {
    visitor: await stack.dataToken('one.test'),
    user: await stack.adminToken('one.test', 'user'),
    admin: await stack.adminToken('one.test'),
  }
  const [header, payload, signature] = valid.admin.split('.')
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  credentials = {
    'no token': {},
    'an empty token': { headers: { authorization: 'Bearer ' } },
    'another scheme': { headers: { authorization: `Basic ${valid.admin}` } },
    'a word': { token: 'letmein' },
    'the admin token of another site': { token: await stack.adminToken('two.test') },
    'the data token of another site': { token: await stack.dataToken('two.test') },
    'an unsigned token': { token: `${unsigned}.${payload}.` },
    'a token that keeps its signature but not its header': {
      token: `${unsigned}.${payload}.${signature}`,
    },
    'a token that is cut': { token: `${header}.${payload}` },
    'an expired admin token': { token: await yesterday.adminToken('one.test') },
    'an expired data token': { token: await yesterday.dataToken('one.test') },
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Whether the operator key opens a route. */
const isOperators = (authority: string): boolean =>
  authority === 'operator' || authority.startsWith('deploy-token:')

/** The right token of the wrong kind for a route. */
const misplaced = (authority: string): Record<string, CallOptions> => {
  if (authority === 'visitor') {
    return {
      'an admin token': { token: valid.admin },
      'the operator key': { token: stack.operatorKey },
    }
  }
  const others = { 'a visitor’s token': { token: valid.visitor } }
  return isOperators(authority)
    ? { ...others, 'an admin token': { token: valid.admin } }
    : { ...others, 'the operator key': { token: stack.operatorKey } }
}

describe('the route table', () => {
  test('has no route that does not declare its authority', () => {
    expect(routes.filter((route) => route.detail['x-authority'] === undefined)).toEqual([])
    expect(routes.length).toBeGreaterThan(30)
  })

  test('has no route that can have a body and declares no limit of it', () => {
    const bodied = routes.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
    expect(bodied.length).toBeGreaterThan(30)
    for (const route of bodied) {
      expect(route.detail['x-request-body'], nameOf(route)).toMatchObject({
        kind: expect.stringMatching(/^(?:json|optional-json|form|text|upload)$/),
        limitBytes: expect.any(Number),
      })
    }
  })

  test.each([
    ['POST /admin/api/users', 'json', 256 * KIB],
    ['POST /admin/data/resources', 'json', 4 * MIB],
    ['PATCH /admin/data/resources/:resourceId', 'json', 4 * MIB],
    ['POST /admin/data/resources/:resourceId/data/ddb/put', 'optional-json', 6 * MIB + 64 * KIB],
    [
      'POST /admin/data/resources/:resourceId/data/s3/put-object',
      'optional-json',
      8 * MIB + 64 * KIB,
    ],
    ['POST /data/:operation', 'json', 6 * MIB + 64 * KIB],
    ['POST /data/auth/password/add', 'json', 256 * KIB],
    ['POST /data/public/:operation', 'json', 6 * MIB + 64 * KIB],
    ['POST /oidc/:userPoolId', 'text', 256 * KIB],
    ['POST /oidc/:userPoolId/oauth2/token', 'form', 256 * KIB],
    ['POST /portal/api/sites', 'json', 6 * MIB + 64 * KIB],
    [
      'PUT /portal/api/sites/:siteId/deployments/:deploymentId/files/:sha256',
      'upload',
      MAX_UPLOAD_BYTES,
    ],
    ['PUT /objects/:key', 'upload', MAX_UPLOAD_BYTES],
  ])('takes for %s a body of kind %s, of at most %d bytes', (name, kind, limitBytes) => {
    const route = routes.find((candidate) => nameOf(candidate) === name)
    expect(route?.detail['x-request-body']).toMatchObject({ kind, limitBytes })
  })

  test('opens to strangers what is listed here, and says why', () => {
    const open = routes.filter((route) => authorityOf(route) === 'open')
    expect([...new Set(open.map(nameOf))].sort()).toEqual(OPEN)
    for (const route of open) expect(route.detail['x-open']).toMatch(/\w{3}/)
  })

  test('refuses every wrong credential on every route with 401, before it looks at the body', async () => {
    // Git wants words instead of JSON, and another challenge: `test/repository` walks its routes.
    // Where no operation answers HTTP there is nothing to refuse: `test/data/http-operations.test.ts` has one.
    const closed = routes.filter(
      (route) =>
        !['open', 'signed-url', 'repository'].includes(authorityOf(route)) &&
        route.method !== EVERY_METHOD,
    )
    let refusals = 0
    for (const route of closed) {
      const attempts = { ...credentials, ...misplaced(authorityOf(route)) }
      for (const [what, options] of Object.entries(attempts)) {
        const where = `${nameOf(route)} with ${what}`
        for (const body of route.method === 'GET' ? [undefined] : [undefined, '{"broken']) {
          const answer = await stack.call('one.test', route.method, pathOf(route), {
            ...options,
            ...(body === undefined
              ? {}
              : { body, headers: { ...options.headers, 'content-type': 'application/json' } }),
          })
          expect(answer.status, where).toBe(401)
          const { error } = answer.json as { error: Record<string, unknown> }
          expect(Object.keys(error).sort(), where).toEqual(['code', 'message', 'requestId'])
          expect(['Unauthorized', 'TokenExpired'], where).toContain(error['code'])
          expect(answer.headers['www-authenticate'], where).toMatch(/^Bearer/)
          expect(answer.text, where).not.toMatch(/two\.test|ann@|visitor@|site_/)
          refusals += 1
        }
      }
    }
    expect(refusals).toBeGreaterThan(closed.length * 10)
  })

  test('answers a role that is too low with 403 on every route that needs more', async () => {
    const needy = routes.filter((route) =>
      ['role:admin', 'role:super-admin'].includes(authorityOf(route)),
    )
    expect(needy.length).toBeGreaterThan(5)
    for (const route of needy) {
      const answer = await stack.call('one.test', route.method, pathOf(route), {
        token: valid.user,
      })
      expect(answer, nameOf(route)).toMatchObject({
        status: 403,
        json: { error: { code: 'Forbidden' } },
      })
    }
  })

  test('answers a host that is no site with 404 on every route of sites', async () => {
    const ofSites = routes.filter(
      (route) =>
        !isOperators(authorityOf(route)) &&
        authorityOf(route) !== 'signed-url' &&
        !['/healthz', '/readyz'].includes(route.path),
    )
    for (const route of ofSites) {
      const answer = await stack.call('nobody.test', methodOf(route), pathOf(route), {
        token: valid.admin,
      })
      expect(answer.status, nameOf(route)).toBe(404)
      if (route.method === 'HEAD') continue
      expect(answer.text, nameOf(route)).toContain('SiteNotFound')
    }
  })
})
