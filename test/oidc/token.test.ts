import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let stack: Stack
let client: RelyingParty
let sub: string
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
  sub = await client.user('vic@example.org')
})
afterAll(() => stack[Symbol.asyncDispose]())

const newCode = async () => (await client.signIn(sub)).code
const refusal = (error: string, status = 400) => ({
  status,
  json: { error, error_description: expect.stringMatching(/\w/) },
  headers: { 'cache-control': 'no-store', 'content-type': 'application/json' },
})
const events = async (event: string) => {
  const { siteId } = await stack.context.sites.find('one.test')
  const rows = await asSuperuser(
    stack,
    (sql) => sql`
    select event from security_event where site_id = ${siteId} and event = ${event}`,
  )
  return rows.length
}

describe('a code', () => {
  test('becomes an access, an id and a refresh token', async () => {
    const answer = await client.exchange(await newCode())
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json',
    })
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      id_token: expect.any(String),
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid email profile',
    })
    const [access, id] = [decodeJwt(answer.json.access_token), decodeJwt(answer.json.id_token)]
    const common = {
      sub,
      iss: client.pool.issuer,
      username: 'vic@example.org',
      origin_jti: expect.any(String),
      jti: expect.any(String),
      iat: expect.any(Number),
      auth_time: expect.any(Number),
      exp: (access.iat ?? 0) + 3600,
    }
    expect(access).toEqual({
      ...common,
      token_use: 'access',
      client_id: client.pool.clientId,
      scope: 'openid email profile',
    })
    expect(id).toEqual({
      ...common,
      token_use: 'id',
      aud: client.pool.clientId,
      'cognito:username': 'vic@example.org',
      email: 'vic@example.org',
      email_verified: true,
      nonce: 'n-1',
    })
  })

  test('tells the address in the id token where its scope was granted, and nowhere else', async () => {
    const { code } = await client.signIn(sub, { changes: { scope: 'openid profile' } })
    const { json } = await client.exchange(code)
    const id = decodeJwt(json.id_token)
    expect(id).toMatchObject({ sub, 'cognito:username': 'vic@example.org' })
    expect(id).not.toHaveProperty('email')
    expect(id).not.toHaveProperty('email_verified')
  })

  test('gives no id token without the scope openid', async () => {
    const changes = { scope: 'email unknown', nonce: undefined }
    const { code } = await client.signIn(sub, { changes })
    const { json } = await client.exchange(code)
    expect(json).toMatchObject({ scope: 'email', refresh_token: expect.any(String) })
    expect(json).not.toHaveProperty('id_token')
  })

  test('gives tokens that the API takes: of the data pool at /data, of the admin pool at /admin', async () => {
    const visitor = await client.tokens('taken@example.org')
    expect(await client.isTaken(visitor.access_token)).toBe(true)
    const admins = await adminClient('one.test')
    const admin = await admins.tokens('ann@one.test')
    expect(decodeJwt(admin.access_token)['cognito:groups']).toEqual(['super-admin'])
    expect(await admins.isTaken(admin.access_token)).toBe(true)
    expect(await admins.isTaken(admin.id_token ?? '')).toBe(true)
    expect(await client.isTaken(admin.access_token)).toBe(false)
    expect(await admins.isTaken(visitor.access_token)).toBe(false)
  })

  test('is good once: the second use ends the tokens of the first, and is on record', async () => {
    const code = await newCode()
    const { json } = await client.exchange(code)
    expect(await client.isTaken(json.access_token)).toBe(true)
    expect(await client.exchange(code)).toMatchObject(refusal('invalid_grant'))
    expect(await client.isTaken(json.access_token)).toBe(false)
    expect(await client.refresh(json.refresh_token)).toMatchObject(refusal('invalid_grant'))
    expect(await events('authorization-code.replayed')).toBe(1)
  })

  test('that is used twice at once leaves no tokens that work', async () => {
    const code = await newCode()
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.exchange(code)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won.length).toBe(1)
    expect(await client.isTaken(won[0]?.json.access_token)).toBe(false)
  })

  test('is not used up by who cannot use it', async () => {
    const code = await newCode()
    expect((await client.exchange(code, { code_verifier: 'x'.repeat(43) })).status).toBe(400)
    expect((await client.exchange(code, { redirect_uri: 'https://evil.example' })).status).toBe(400)
    const { status, json } = await client.exchange(code)
    expect(status).toBe(200)
    // Nor does a client that has seen the code alone end its tokens.
    expect((await client.exchange(code, { code_verifier: 'x'.repeat(43) })).status).toBe(400)
    expect(await client.isTaken(json.access_token)).toBe(true)
  })

  test('ends after five minutes', async () => {
    await using later = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() + 300_500) } },
    })
    const there = await RelyingParty.of(later, 'one.test')
    const code = await newCode()
    const verifier = client.verifier
    expect(await there.exchange(code, { code_verifier: verifier })).toMatchObject(
      refusal('invalid_grant'),
    )
  })

  test('of another site, of the other pool and of another client is refused', async () => {
    const code = await newCode()
    const [neighbour, admins] = [
      await RelyingParty.of(stack, 'two.test'),
      await adminClient('one.test'),
    ]
    const link = [...client.pool.clients.values()].find(({ purpose }) => purpose === 'link')
    const same = { code_verifier: client.verifier, redirect_uri: client.redirectUri }
    for (const answer of [
      await neighbour.exchange(code, same),
      await admins.exchange(code, same),
      await client.exchange(code, { client_id: link?.clientId }),
    ]) {
      expect(answer).toMatchObject(refusal('invalid_grant'))
    }
    expect((await client.exchange(code)).status).toBe(200)
  })

  test('of a user who is gone is refused', async () => {
    const gone = await client.user('gone@example.org')
    const { code } = await client.signIn(gone)
    await asSuperuser(stack, (sql) => sql`delete from pool_user where sub = ${gone}`)
    expect(await client.exchange(code)).toMatchObject(refusal('invalid_grant'))
  })

  test('of a user who has been signed out everywhere is refused', async () => {
    const out = await client.user('out@example.org')
    const { code } = await client.signIn(out)
    await stack.context.users.revokeTokens(client.site, client.pool.userPoolId, out)
    expect(await client.exchange(code)).toMatchObject(refusal('invalid_grant'))
  })
})

async function adminClient(host: string): Promise<RelyingParty> {
  await asSuperuser(
    stack,
    (sql) => sql`update pool_user set status = 'ACTIVE' where email = ${`ann@${host}`}`,
  )
  return RelyingParty.of(stack, host, 'admin')
}

const WRONG: readonly (readonly [string, Record<string, string | undefined>, string, number])[] = [
  ['no grant type', { grant_type: undefined }, 'invalid_request', 400],
  ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type', 400],
  ['client credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type', 400],
  ['no client', { client_id: undefined }, 'invalid_request', 400],
  ['an unknown client', { client_id: 'x'.repeat(26) }, 'invalid_client', 401],
  ['a secret', { client_secret: 'x' }, 'invalid_client', 401],
  ['an assertion of no type', { client_assertion: 'a.b.c' }, 'invalid_request', 400],
  [
    'a client assertion',
    {
      client_assertion: 'a.b.c',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    },
    'invalid_client',
    401,
  ],
  ['no code', { code: undefined }, 'invalid_request', 400],
  ['an empty code', { code: '' }, 'invalid_request', 400],
  ['an unknown code', { code: 'x'.repeat(43) }, 'invalid_grant', 400],
  ['no redirect URI', { redirect_uri: undefined }, 'invalid_request', 400],
  ['another redirect URI', { redirect_uri: 'https://evil.example/' }, 'invalid_grant', 400],
  ['no verifier', { code_verifier: undefined }, 'invalid_grant', 400],
  ['a wrong verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant', 400],
  ['a verifier that is too short', { code_verifier: 'x'.repeat(42) }, 'invalid_request', 400],
  ['a verifier that is too long', { code_verifier: 'x'.repeat(129) }, 'invalid_request', 400],
  ['a verifier of other letters', { code_verifier: 'ü'.repeat(50) }, 'invalid_request', 400],
]

describe('a token request', () => {
  test.each(WRONG)('is refused with %s', async (_what, changes, error, status) => {
    const answer = await client.exchange(await newCode(), changes)
    expect(answer).toMatchObject(refusal(error, status))
  })

  test('with the challenge itself as verifier is refused, as plain PKCE would not', async () => {
    const challenge = client.params().get('code_challenge') ?? ''
    const answer = await client.exchange(await newCode(), { code_verifier: challenge })
    expect(answer).toMatchObject(refusal('invalid_grant'))
  })

  test.each([
    ['Basic', `Basic ${Buffer.from('x:y').toString('base64')}`, 'invalid_client', 401],
    ['no Basic at all', 'Bearer x', 'invalid_request', 400],
  ])('with %s in the Authorization header is refused', async (_what, header, error, status) => {
    const fields = { grant_type: 'refresh_token' }
    const answer = await client.post('token', fields, { authorization: header })
    expect(answer).toMatchObject(refusal(error, status))
    expect(answer.headers['www-authenticate'] ?? '').toMatch(status === 401 ? /^Basic / : /^$/)
  })

  test('that is JSON, too long, or has a field twice is refused', async () => {
    const path = `${client.path}/oauth2/token`
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const options of [
      { body: { grant_type: 'authorization_code' } },
      { body: `grant_type=${'x'.repeat(70_000)}`, headers: form },
      { body: 'grant_type=authorization_code&grant_type=authorization_code', headers: form },
      { body: '', headers: form },
    ]) {
      const answer = await stack.call('one.test', 'POST', path, options)
      expect(answer).toMatchObject(refusal('invalid_request'))
    }
  })

  test('may have unknown fields, twice as well', async () => {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: client.pool.clientId,
      redirect_uri: client.redirectUri,
      code_verifier: client.verifier,
      code: await newCode(),
    })
    for (const name of ['a', 'b']) body.append('resource', `https://${name}.example`)
    const answer = await stack.call('one.test', 'POST', `${client.path}/oauth2/token`, {
      body: body.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.status).toBe(200)
  })

  test('is no GET', async () => {
    const answer = await client.get('/oauth2/token?grant_type=authorization_code')
    expect(answer.status).toBe(405)
  })

  test('may come from the page of any origin, without cookies', async () => {
    const path = `${client.path}/oauth2/token`
    const origin = 'https://app.example'
    const preflight = await stack.call('one.test', 'OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': expect.stringContaining('authorization'),
      },
    })
    expect(preflight.headers).not.toHaveProperty('access-control-allow-credentials')
    const fields = { grant_type: 'refresh_token' }
    const answer = await client.post('token', fields, { origin })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    const page = await stack.call('one.test', 'GET', `${client.path}/login`, {
      headers: { origin },
    })
    expect(page.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
