import { generateKeyPairSync } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CALLBACK, RegisteredParty } from '#test/registered-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const PICTURE = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('picture')])
const LOGO = `data:image/png;base64,${PICTURE.toString('base64')}`

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwks = { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }] }

let stack: Stack
let second: Stack
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const register = (
  registration: Readonly<Record<string, unknown>> = {},
  host = 'one.test',
): Promise<RegisteredParty> => RegisteredParty.register(stack, host, registration)

const portal = (method: string, path = '', body?: unknown, host = 'one.test') =>
  stack.portal(method, `/sites/${host}/clients${path}`, body)

describe.each(['one.test', 'two.test'])('an application that is registered at %s', (host) => {
  test.each(['admin', 'data'])('signs in users of the %s pool with its secret', async (pool) => {
    const app = await register({ pool }, host)
    const email = pool === 'admin' ? `ann@${host}` : 'vic@example.org'
    for (const proof of [app.basic(), app.post()]) {
      const answer = await app.exchange(await app.code(email), proof)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json).toMatchObject({ token_type: 'Bearer', scope: 'openid email profile' })
      expect((await app.party.userInfo(answer.json.access_token)).json).toMatchObject({ email })
      const renewed = await app.refresh(answer.json.refresh_token, proof)
      expect(renewed.status, renewed.text).toBe(200)
      expect((await app.revoke(renewed.json.refresh_token, proof)).status).toBe(200)
      expect((await app.refresh(renewed.json.refresh_token, proof)).json).toMatchObject({
        error: 'invalid_grant',
      })
    }
  })

  test('signs in with keys, on any replica', async () => {
    const app = await register({ authentication: 'private_key_jwt', jwks }, host)
    expect(app.client.clientSecret).toBeNull()
    const { issuer } = app.party.pool
    const proof = await app.signed(keys.privateKey, { aud: issuer })
    const answer = await app.exchange(await app.code('vic@example.org'), proof)
    expect(answer.status, answer.text).toBe(200)
  })

  test('is named on the pages, with its picture and its privacy policy', async () => {
    const privacyUri = 'https://helpdesk.example/privacy?a=1&b=2'
    const app = await register({ name: 'Help <desk>', privacyUri, logo: LOGO }, host)
    for (const page of ['login', 'signup', 'forgotPassword']) {
      const { status, text, headers } = await app.party.get(
        `/${page}?${app.party.params(app.request()).toString()}`,
      )
      expect(status).toBe(200)
      expect(text).toContain('href="https://helpdesk.example/privacy?a=1&#38;b=2"')
      expect(headers['content-security-policy']).toContain("img-src data: 'self'")
      const [, address = ''] = /<img class="emblem" src="([^"]+)"/.exec(text) ?? []
      const picture = await stack.call(host, 'GET', address)
      expect(picture).toMatchObject({
        status: 200,
        headers: { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
      })
      expect(Buffer.from(picture.bytes).equals(PICTURE)).toBe(true)
    }
    const login = await app.party.get(`/login?${app.party.params(app.request()).toString()}`)
    expect(login.text).toContain('<b>Help &#60;desk&#62;</b> (helpdesk.example)')
    const own = await app.party.get(`/login?${app.party.params().toString()}`)
    expect(own.text).not.toContain('<img')
    expect(own.headers['content-security-policy']).toContain('img-src data:;')
  })
})

describe('the token endpoint', () => {
  let secret: RegisteredParty
  let keyed: RegisteredParty
  let open: RegisteredParty
  beforeAll(async () => {
    secret = await register()
    keyed = await register({ authentication: 'private_key_jwt', jwks })
    open = await register({ authentication: 'none' })
  })

  test('refuses a client that proves nothing, or something else', async () => {
    const code = await secret.code('vic@example.org')
    const other = await register()
    const refused = [
      [secret.named(), 'This client has a secret'],
      [secret.basic('wrong'), 'The secret is not that of the client'],
      [secret.post('wrong'), 'The secret is not that of the client'],
      [secret.basic(other.client.clientSecret ?? ''), 'The secret is not that of the client'],
      [secret.basic('', 'nobody'), 'There is no such client here'],
      [
        await keyed.signed(keys.privateKey, { iss: secret.clientId, sub: secret.clientId }),
        'not what this client has registered',
      ],
    ] as const
    for (const [proof, description] of refused) {
      const answer = await secret.exchange(code, proof)
      expect(answer.status, answer.text).toBe(401)
      expect(answer.json).toEqual({
        error: 'invalid_client',
        error_description: expect.stringContaining(description),
      })
      expect(answer.headers['www-authenticate'] !== undefined).toBe('headers' in proof)
    }
    // None of them used the code up.
    expect((await secret.exchange(code)).status).toBe(200)
  })

  test.each([
    ['two ways at once', { client_secret: 'x' }, 'in one way only'],
    ['another client in the body', { client_id: 'another' }, 'another one in the Authorization'],
  ])('refuses %s', async (_what, fields, description) => {
    const proof = secret.basic()
    const answer = await secret.exchange('code', { ...proof, fields })
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(answer.json.error_description).toContain(description)
  })

  test.each(['Basic !!!', 'Basic bm9jb2xvbg==', 'Basic JTpY', 'Bearer x', 'Basic'])(
    'refuses the header %s',
    async (authorization) => {
      const answer = await secret.exchange('code', { fields: {}, headers: { authorization } })
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    },
  )

  test('takes no code and no refresh token of another client', async () => {
    const other = await register()
    const code = await secret.code('vic@example.org')
    expect((await other.exchange(code)).json).toMatchObject({ error: 'invalid_grant' })
    const { refresh_token: token } = (await secret.exchange(code)).json
    expect((await other.refresh(token)).json).toMatchObject({ error: 'invalid_grant' })
    expect((await other.revoke(token)).status).toBe(200)
    expect((await secret.refresh(token)).status).toBe(200)
  })

  test('knows no client of another site, and none of the other pool', async () => {
    const elsewhere = await register({}, 'two.test')
    const ofAdmins = await register({ pool: 'admin' })
    for (const foreign of [elsewhere, ofAdmins]) {
      const answer = await secret.exchange('code', foreign.basic())
      expect(answer.json).toMatchObject({
        error: 'invalid_client',
        error_description: 'There is no such client here',
      })
      const asked = await secret.party.authorize(foreign.request())
      expect(asked.status).toBe(400)
    }
    expect((await portal('GET', `/${elsewhere.clientId}`)).status).toBe(404)
    expect((await portal('DELETE', `/${elsewhere.clientId}`)).status).toBe(404)
    expect((await portal('POST', `/${elsewhere.clientId}/secret`, {})).status).toBe(404)
  })

  test.each([
    ['of a stranger’s key', {}, true],
    ['for another audience', { aud: 'https://other.example' }],
    ['for the endpoint', { aud: (issuer: string) => `${issuer}/oauth2/token` }],
    [
      'for the issuer and another audience',
      { aud: (issuer: string) => [issuer, 'https://other.example'] },
    ],
    ['for a list of the issuer', { aud: (issuer: string) => [issuer] }],
    ['for no client', { aud: undefined }],
    ['of another issuer', { iss: 'somebody' }],
    ['about another client', { sub: 'somebody' }],
    ['that ended', { exp: Math.floor(Date.now() / 1000) - 3600 }],
    ['that is not good yet', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
    ['that is good for days', { exp: Math.floor(Date.now() / 1000) + 86_400 }],
    ['without an end', { exp: undefined }],
    ['without a jti', { jti: undefined }],
  ])('refuses an assertion %s', async (_what, claims, isStranger = false) => {
    const { privateKey } = isStranger ? strangers : keys
    const aud =
      'aud' in claims && typeof claims.aud === 'function' && claims.aud(keyed.party.pool.issuer)
    const proof = await keyed.signed(privateKey, { ...claims, ...(aud && { aud }) })
    const named = { fields: { ...proof.fields, client_id: keyed.clientId } }
    const answer = await keyed.exchange('code', named)
    expect(answer.json).toMatchObject({ error: 'invalid_client' })
    expect(answer.status).toBe(401)
  })

  test('refuses what is no assertion', async () => {
    const proof = await keyed.signed(keys.privateKey)
    for (const [changes, error] of [
      [{ client_assertion_type: 'jwt' }, 'invalid_request'],
      [{ client_assertion_type: undefined }, 'invalid_request'],
      [{ client_assertion: 'a.b.c' }, 'invalid_client'],
      [{ client_assertion: 'x'.repeat(9000) }, 'invalid_client'],
      [{ client_id: open.clientId }, 'invalid_client'],
    ] as const) {
      const answer = await keyed.exchange('code', { fields: { ...proof.fields, ...changes } })
      expect(answer.json, JSON.stringify(changes)).toMatchObject({ error })
    }
  })

  test('takes an assertion once, on all replicas together', async () => {
    const proof = await keyed.signed(keys.privateKey)
    const elsewhere = await keyed.party.at(second)
    const fields = { grant_type: 'refresh_token', refresh_token: 'unknown', ...proof.fields }
    const answers = await Promise.all(
      [keyed.party, elsewhere, keyed.party, elsewhere].map((party) => party.post('token', fields)),
    )
    const errors = answers.map(({ json }) => json.error)
    expect(errors.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'invalid_client',
      'invalid_client',
      'invalid_client',
      'invalid_grant',
    ])
  })
})

describe('PKCE', () => {
  const verifier = 'v'.repeat(43)

  test('is required of a client that proves nothing else', async () => {
    const app = await register({ authentication: 'none' })
    const answer = await app.party.authorize(app.request())
    expect(answer.status).toBe(303)
    expect(String(answer.headers['location'])).toContain('code_challenge+is+missing')
  })

  test.each([
    ['without a method', { code_challenge: 'x'.repeat(43) }],
    ['with the method plain', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }],
    ['with a method and no challenge', { code_challenge_method: 'S256' }],
  ])('is refused of one that has a secret: %s', async (_what, changes) => {
    const app = await register()
    const answer = await app.party.authorize(app.request(changes))
    expect(String(answer.headers['location'])).toContain('error=invalid_request')
  })

  test('counts once it was used, and cannot be added later', async () => {
    const app = await register()
    const used = app.party.params()
    const challenge = {
      code_challenge: used.get('code_challenge') ?? '',
      code_challenge_method: 'S256',
    }
    const without = await app.exchange(await app.code('vic@example.org', challenge))
    expect(without.json).toMatchObject({ error: 'invalid_grant' })
    const added = await app.exchange(await app.code('vic@example.org'), app.basic(), {
      code_verifier: verifier,
    })
    expect(added.json).toMatchObject({ error: 'invalid_grant' })
    const right = await app.exchange(await app.code('vic@example.org', challenge), app.basic(), {
      code_verifier: app.party.verifier,
    })
    expect(right.status, right.text).toBe(200)
  })
})

describe('the tokens of a registered application', () => {
  test('open the site’s operations where it is the site’s own, and nothing where it is not', async () => {
    const ours = await register()
    const theirs = await register({ isThirdParty: true })
    const mine = await ours.tokens('vic@example.org')
    const site = await RuntimeSite.open(stack, 'one.test')
    await site.putOperation('open', { preset: { preset: 'echo' } })
    await site.synced()
    const statuses = async () => {
      const answers = [stack, second, stack].map((replica) =>
        replica.call('one.test', 'POST', '/data/open', {
          token: mine.access_token,
          body: { payload: {} },
        }),
      )
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    await expect.poll(statuses).toEqual([200, 200, 200])
    // It was the site's own when it got the token.
    expect((await portal('PATCH', `/${ours.clientId}`, { isThirdParty: true })).status).toBe(200)
    await expect.poll(statuses).toEqual([403, 403, 403])
    expect((await theirs.party.userInfo(mine.access_token)).status).toBe(200)
  })

  test('never open the administration', async () => {
    const app = await register({ pool: 'admin' })
    const { access_token: access, id_token: id = '' } = await app.tokens('ann@one.test')
    expect(await app.party.isTaken(access)).toBe(false)
    expect(await app.party.isTaken(id)).toBe(false)
    expect((await app.party.userInfo(access)).json).toMatchObject({ email: 'ann@one.test' })
  })

  test('name the application, in the format that it has', async () => {
    const app = await register({ accessTokenFormat: 'rfc9068' })
    const tokens = await app.tokens('vic@example.org')
    const part = (token: string, at: number) =>
      JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
    expect(part(tokens.access_token, 0)).toMatchObject({ typ: 'at+jwt' })
    expect(part(tokens.access_token, 1)).toMatchObject({ client_id: app.clientId })
    expect(part(tokens.id_token ?? '', 1)).toMatchObject({ aud: app.clientId, nonce: 'n-1' })
  })

  test('sign out to its own addresses, and to none of another', async () => {
    const logout = 'https://helpdesk.example/bye'
    const app = await register({ logoutUris: [logout] })
    const other = await register()
    const { id_token: hint = '' } = await app.tokens('vic@example.org')
    const to = (fields: Readonly<Record<string, string>>) =>
      app.party.get(`/logout?${new URLSearchParams(fields).toString()}`)
    const gone = await to({ id_token_hint: hint, post_logout_redirect_uri: logout, state: 's' })
    expect(gone).toMatchObject({ status: 303, headers: { location: `${logout}?state=s` } })
    const own = await to({ id_token_hint: hint, post_logout_redirect_uri: app.party.logoutUri })
    expect(own.status).toBe(400)
    const mixed = await to({ id_token_hint: hint, client_id: other.clientId })
    expect(mixed.status).toBe(400)
  })
})

describe('an operator', () => {
  test('lists, shows, changes and removes clients, and reads no secret again', async () => {
    const app = await register({ name: 'Before', logo: LOGO }, 'two.test')
    const { clientSecret, ...shown } = app.client
    const path = `/${app.clientId}`
    expect((await portal('GET', path, undefined, 'two.test')).json).toEqual(shown)
    const changed = await portal('PATCH', path, { name: 'After', logo: null }, 'two.test')
    expect(changed.json).toMatchObject({ name: 'After', hasLogo: false, redirectUris: [CALLBACK] })
    const list = await portal('GET', '', undefined, 'two.test')
    expect(list.json.items).toContainEqual(changed.json)
    expect(list.text + changed.text).not.toContain(clientSecret)
    const tokens = await app.tokens('vic@example.org')
    expect((await portal('DELETE', path, undefined, 'two.test')).status).toBe(204)
    expect((await portal('GET', path, undefined, 'two.test')).status).toBe(404)
    expect((await app.refresh(tokens.refresh_token)).json).toMatchObject({
      error: 'invalid_client',
    })
    expect((await app.party.userInfo(tokens.access_token)).status).toBe(401)
    const site = await stack.context.sites.find('two.test')
    const left = await asSuperuser(
      stack,
      (sql) => sql`select (select count(*) from refresh_family where client_id = ${app.clientId})
        + (select count(*) from authorization_code where client_id = ${app.clientId})
        + (select count(*) from pool_client where client_id = ${app.clientId}
            and site_id = ${site.siteId}) as rows`,
    )
    expect(left).toEqual([{ rows: '0' }])
    const { json } = await stack.portal('GET', '/sites/two.test/audit?limit=100')
    const events = json.items.filter(
      (event: { clientId: string }) => event.clientId === app.clientId,
    )
    expect(events.map(({ event }: { event: string }) => event)).toEqual(
      expect.arrayContaining(['client.registered', 'client.changed', 'client.removed']),
    )
    expect(JSON.stringify(events)).not.toContain(clientSecret)
  })

  test('gives a client a new secret, on every replica, and lets the former one end', async () => {
    const app = await register()
    const isGood = async (secret: string | null): Promise<boolean> => {
      const { party } = app
      const fields = { grant_type: 'refresh_token', refresh_token: 'unknown' }
      const { headers } = app.basic(secret ?? '')
      const answers = await Promise.all(
        [party, await party.at(second)].map((each) => each.post('token', fields, headers)),
      )
      const errors = new Set(answers.map(({ json }) => json.error))
      expect(errors.size).toBe(1)
      return errors.has('invalid_grant')
    }
    const rotate = (body: object) => portal('POST', `/${app.clientId}/secret`, body)
    const first = app.client.clientSecret
    const { clientSecret: next, formerSecretEndsAt } = (await rotate({})).json
    const hours = (Date.parse(formerSecretEndsAt) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23)
    await expect.poll(() => isGood(next)).toBe(true)
    expect(await isGood(first)).toBe(true)
    const { clientSecret: last } = (await rotate({ keepFormerHours: 0 })).json
    await expect.poll(() => isGood(last)).toBe(true)
    expect(await isGood(next)).toBe(false)
    expect(await isGood(first)).toBe(false)
    const open = await register({ authentication: 'none' })
    expect((await portal('POST', `/${open.clientId}/secret`, {})).json).toMatchObject({
      error: { code: 'ClientWithoutSecret' },
    })
  })

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
    format: 'jwk',
  })
  test.each([
    ['no address', { redirectUris: [] }, 'redirectUris'],
    ['http elsewhere', { redirectUris: ['http://app.example/cb'] }, 'redirectUris[0]'],
    ['a fragment', { logoutUris: ['https://app.example/#x'] }, 'logoutUris[0]'],
    ['a script', { redirectUris: ['javascript:alert(1)'] }, 'redirectUris[0]'],
    ['no name', { name: '' }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a name that turns around', { name: 'a\u202eb' }, 'name'],
    ['a privacy policy over http', { privacyUri: 'http://app.example' }, 'privacyUri'],
    ['a logo that is none', { logo: 'data:image/png;base64,AAAA' }, 'logo'],
    ['a logo that is a page', { logo: 'data:text/html;base64,AAAA' }, 'logo'],
    ['a logo of 40 kB', { logo: `data:image/png;base64,${'A'.repeat(53_336)}` }, 'logo'],
    ['keys for a secret', { jwks }, 'jwks'],
    ['no keys', { authentication: 'private_key_jwt' }, 'jwks'],
    [
      'a private key',
      {
        authentication: 'private_key_jwt',
        jwks: { keys: [keys.privateKey.export({ format: 'jwk' })] },
      },
      'jwks.keys[0]',
    ],
    ['a weak key', { authentication: 'private_key_jwt', jwks: { keys: [rsa] } }, 'jwks.keys[0]'],
    [
      'a shared key',
      { authentication: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } },
      'jwks.keys[0]',
    ],
    ['another way', { authentication: 'tls_client_auth' }, 'authentication'],
    ['an unknown field', { trusted: true }, 'trusted'],
  ])('gets an error that says what is wrong with %s', async (_what, wrong, field) => {
    const answer = await portal('POST', '', {
      name: 'Helpdesk',
      redirectUris: [CALLBACK],
      ...wrong,
    })
    expect(answer.status, answer.text).toBe(400)
    expect(answer.json.error.code).toBe('ValidationError')
    expect(answer.json.error.details.map((fault: { field: string }) => fault.field)).toContain(
      field,
    )
  })

  test('registers fifty at a site, and no more', async () => {
    await stack.portal('POST', '/sites', { domain: 'full.test', superAdmins: ['ann@full.test'] })
    const body = { name: 'One of many', redirectUris: [CALLBACK] }
    const answers = await Promise.all(
      Array.from({ length: 52 }, () => portal('POST', '', body, 'full.test')),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ status, json }) => [status, json.error.code])).toEqual([
      [409, 'TooManyClients'],
      [409, 'TooManyClients'],
    ])
  })

  test('is the only one who may', async () => {
    const admin = await (await RelyingParty.of(stack, 'one.test', 'admin')).tokens('ann@one.test')
    for (const token of [undefined, admin.access_token, 'wrong']) {
      const answer = await stack.call('localhost', 'GET', '/portal/api/sites/one.test/clients', {
        ...(token !== undefined && { token }),
      })
      expect(answer.status).toBe(401)
    }
  })
})

test('discovery tells how clients authenticate', async () => {
  const { json } = await (await register()).party.get('/.well-known/openid-configuration')
  expect(json).toMatchObject({
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'none',
    ],
    token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  })
})
