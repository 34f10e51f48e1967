import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

let stack: Stack
let second: Stack
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const read = async (host: string, from: Stack = stack) =>
  (await from.portal('GET', `/sites/${host}/auth`)).json
const change = (host: string, body: unknown) => stack.portal('PATCH', `/sites/${host}/auth`, body)
const fresh = async (domain: string) => {
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  return domain
}

describe('the settings of a site’s sign-in', () => {
  test('say of both pools who may come in and where their clients return to', async () => {
    const { admin, data } = await read('one.test')
    const base = stack.baseUrl('one.test')
    const policy = {
      minimumLength: 8,
      requireUppercase: true,
      requireLowercase: true,
      requireNumbers: true,
      requireSymbols: true,
    }
    expect(admin).toEqual({
      userPoolId: expect.stringMatching(/^eu-central-1_/),
      issuer: `${base}/oidc/${admin.userPoolId}`,
      passwordPolicy: policy,
      selfSignUp: false,
      linkVerifiedAddresses: false,
      sessionIdleMinutes: 480,
      maxSessions: 50,
      requireSecondFactor: false,
      scopes: {},
      clients: {
        default: {
          clientId: expect.stringMatching(/^[a-z0-9]{26}$/),
          redirectUris: [`${base}/admin/callback`],
          logoutUris: [`${base}/admin`],
          cognitoApi: false,
          accessTokenFormat: 'cognito',
        },
      },
    })
    expect(data).toMatchObject({
      passwordPolicy: policy,
      selfSignUp: true,
      linkVerifiedAddresses: false,
      sessionIdleMinutes: 43_200,
      maxSessions: 50,
      scopes: {},
      clients: {
        default: { redirectUris: [`${base}/auth/callback`], logoutUris: [`${base}/`] },
        link: { redirectUris: [`${base}/auth/callback`], cognitoApi: false },
      },
    })
    const discovery = (await stack.call('one.test', 'GET', '/data/auth/config')).json.data
    expect(data.clients.default.clientId).toBe(discovery.userPoolClientId)
    expect(data.clients.link.clientId).not.toBe(discovery.userPoolClientId)
  })

  test('change where they are named, stay elsewhere, and hold at once on every replica', async () => {
    const host = await fresh('changes.test')
    const before = await read(host)
    expect(await read(host, second)).toEqual(before)
    const uris = ['https://app.example/cb', 'com.example.app:/cb']
    const changed = await change(host, {
      data: {
        passwordPolicy: { minimumLength: 12, requireSymbols: false },
        selfSignUp: false,
        clients: {
          default: { redirectUris: uris },
          link: { redirectUris: ['https://l.example/'] },
        },
      },
    })
    expect(changed.status).toBe(200)
    const own = before.data.clients.default.redirectUris
    expect(changed.json).toEqual({
      admin: before.admin,
      data: {
        ...before.data,
        passwordPolicy: {
          minimumLength: 12,
          requireUppercase: true,
          requireLowercase: true,
          requireNumbers: true,
          requireSymbols: false,
        },
        selfSignUp: false,
        clients: {
          default: { ...before.data.clients.default, redirectUris: [...own, ...uris] },
          link: {
            ...before.data.clients.link,
            redirectUris: [...before.data.clients.link.redirectUris, 'https://l.example/'],
          },
        },
      },
    })
    expect(await read(host)).toEqual(changed.json)
    await expect.poll(() => read(host, second), PATIENCE).toEqual(changed.json)

    const again = await change(host, {
      data: {
        passwordPolicy: { requireNumbers: false },
        clients: { default: { cognitoApi: true } },
      },
    })
    expect(again.json.data).toEqual({
      ...changed.json.data,
      passwordPolicy: { ...changed.json.data.passwordPolicy, requireNumbers: false },
      clients: {
        ...changed.json.data.clients,
        default: { ...changed.json.data.clients.default, cognitoApi: true },
      },
    })
    const cleared = await change(host, { data: { clients: { default: { redirectUris: [] } } } })
    expect(cleared.json.data.clients.default.redirectUris).toEqual(own)
  })

  test('of one site leave another alone', async () => {
    const [host, other] = [await fresh('left.test'), await fresh('right.test')]
    const before = await read(other)
    await change(host, {
      admin: { passwordPolicy: { minimumLength: 20 } },
      data: { selfSignUp: false },
    })
    expect(await read(other)).toEqual(before)
    expect((await read(host)).admin.passwordPolicy.minimumLength).toBe(20)
  })

  test('may name the site’s own URI, which is there once and first', async () => {
    const host = await fresh('own.test')
    const own = (await read(host)).data.clients.default.redirectUris[0]
    const redirectUris = ['https://app.example/cb', own]
    const { json } = await change(host, { data: { clients: { default: { redirectUris } } } })
    expect(json.data.clients.default.redirectUris).toEqual([own, 'https://app.example/cb'])
  })

  test('survive two changes at once', async () => {
    const host = await fresh('race.test')
    const changes = [
      { data: { selfSignUp: false } },
      { data: { passwordPolicy: { minimumLength: 10 } } },
      { data: { passwordPolicy: { requireSymbols: false } } },
      { data: { linkVerifiedAddresses: true } },
      { admin: { passwordPolicy: { minimumLength: 16 } } },
    ]
    const answers = await Promise.all(changes.map((body) => change(host, body)))
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
    expect(await read(host)).toMatchObject({
      admin: { passwordPolicy: { minimumLength: 16 } },
      data: {
        selfSignUp: false,
        linkVerifiedAddresses: true,
        passwordPolicy: { minimumLength: 10, requireSymbols: false, requireNumbers: true },
      },
    })
  })

  test('follow the site’s domain where they are its own', async () => {
    const host = await fresh('moves.test')
    await change(host, { data: { clients: { default: { redirectUris: ['https://a.example/'] } } } })
    const { siteId } = await stack.context.sites.find(host)
    await stack.portal('PATCH', `/sites/${siteId}`, { domain: 'moved.test' })
    expect((await read('moved.test')).data.clients.default.redirectUris).toEqual([
      `${stack.baseUrl('moved.test')}/auth/callback`,
      'https://a.example/',
    ])
  })

  test('are in the audit trail with their new values, and only what became different', async () => {
    const host = await fresh('trail.test')
    const redirectUris = ['https://app.example/cb']
    await change(host, {
      admin: { passwordPolicy: { minimumLength: 8 } },
      data: {
        selfSignUp: false,
        passwordPolicy: { minimumLength: 9 },
        clients: { default: { redirectUris } },
      },
    })
    await change(host, { data: { selfSignUp: false } })
    const { items } = (await stack.portal('GET', `/sites/${host}/audit?event=settings.changed`))
      .json
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ pool: 'data', actor: 'operator', address: '127.0.0.1' })
    expect(items[0].detail).toEqual({
      selfSignUp: false,
      'passwordPolicy.minimumLength': 9,
      'clients.default.redirectUris': `${stack.baseUrl(host)}/auth/callback https://app.example/cb`,
    })
  })

  test.each([
    [{ data: { selfSignup: true } }, 'data.selfSignup', 'not a known field'],
    [{ visitors: {} }, 'visitors', 'not a known field'],
    [{ admin: { selfSignUp: true } }, 'admin.selfSignUp', 'are invited'],
    [{ admin: { linkVerifiedAddresses: true } }, 'admin.linkVerifiedAddresses', 'stays false'],
    [{ admin: { clients: { link: {} } } }, 'admin.clients.link', 'not a known field'],
    [
      { data: { clients: { link: { cognitoApi: true } } } },
      'data.clients.link.cognitoApi',
      'known',
    ],
    [{ data: { clients: { other: {} } } }, 'data.clients.other', 'not a known field'],
    [{ data: { passwordPolicy: { minimumLength: 7 } } }, 'data.passwordPolicy.minimumLength', '8'],
    [
      { data: { passwordPolicy: { minimumLength: 129 } } },
      'data.passwordPolicy.minimumLength',
      '128',
    ],
    [
      { data: { passwordPolicy: { requireUmlauts: true } } },
      'data.passwordPolicy.requireUmlauts',
      'known',
    ],
    [{ data: { selfSignUp: 'yes' } }, 'data.selfSignUp', 'boolean'],
  ])('refuse %j by name', async (body, field, words) => {
    const { status, json } = await change('one.test', body)
    expect(status).toBe(400)
    expect(json.error.code).toBe('ValidationError')
    const fault = json.error.details.find((each: { field: string }) => each.field === field)
    expect(fault?.message).toContain(words)
  })

  test('refuse URIs by their place, all at once, and keep none of them', async () => {
    const before = await read('one.test')
    const { status, json } = await change('one.test', {
      admin: { clients: { default: { logoutUris: ['http://evil.example/'] } } },
      data: {
        clients: {
          default: { redirectUris: ['https://fine.example/', 'https://x.example/#f'] },
          link: { redirectUris: ['javascript:alert(1)'] },
        },
      },
    })
    expect(status).toBe(400)
    expect(json.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'admin.clients.default.logoutUris[0]',
      'data.clients.default.redirectUris[1]',
      'data.clients.link.redirectUris[0]',
    ])
    expect(await read('one.test')).toEqual(before)
  })

  test('take at most 20 URIs, each once', async () => {
    const put = (redirectUris: string[]) =>
      change('one.test', { data: { clients: { default: { redirectUris } } } })
    const many = Array.from({ length: 21 }, (_, at) => `https://a.example/${at}`)
    expect((await put(many)).status).toBe(400)
    expect((await put(['https://a.example/', 'https://a.example/'])).json.error.message).toContain(
      'must not name anything twice',
    )
  })

  test('are the operator’s alone', async () => {
    const token = await stack.adminToken('one.test')
    for (const method of ['GET', 'PATCH']) {
      const path = '/portal/api/sites/one.test/auth'
      expect((await stack.call('one.test', method, path, { token, body: {} })).status).toBe(401)
    }
    expect((await stack.portal('GET', '/sites/nowhere.test/auth')).status).toBe(404)
  })
})

describe('the discovery of a site under development', () => {
  const localhostDev = async (host: string) =>
    (await stack.call(host, 'GET', '/data/auth/config')).json.data.localhostDev

  test('names the places on localhost that are registered, and nothing before', async () => {
    const host = await fresh('dev.test')
    expect(await localhostDev(host)).toBeUndefined()
    await change(host, {
      data: {
        clients: {
          default: {
            redirectUris: ['https://app.example/cb', 'http://localhost:5173/cb'],
            logoutUris: ['http://localhost:5173/', 'https://app.example/'],
          },
        },
      },
    })
    expect(await localhostDev(host)).toEqual({
      enabled: true,
      redirectUris: ['http://localhost:5173/cb'],
      logoutUris: ['http://localhost:5173/'],
    })
    const alias = await stack.call(host, 'GET', '/data/public/auth/config')
    expect(Object.keys(alias.json.data)).toHaveLength(5)
  })
})

describe('a change', () => {
  const replicas = () => [stack, second]

  test('opens a redirect URI on every replica, and closes it again', async () => {
    const host = await fresh('redirects.test')
    const redirect_uri = 'https://app.example/cb'
    const parties = await Promise.all(replicas().map((each) => RelyingParty.of(each, host)))
    const statuses = () =>
      Promise.all(parties.map(async (party) => (await party.authorize({ redirect_uri })).status))
    expect(await statuses()).toEqual([400, 400])
    await change(host, { data: { clients: { default: { redirectUris: [redirect_uri] } } } })
    expect((await parties[0]?.authorize({ redirect_uri }))?.status).not.toBe(400)
    await expect.poll(async () => (await statuses()).includes(400), PATIENCE).toBe(false)
    expect((await parties[0]?.authorize({ redirect_uri: `${redirect_uri}/` }))?.status).toBe(400)
    await change(host, { data: { clients: { default: { redirectUris: [] } } } })
    expect((await parties[0]?.authorize({ redirect_uri }))?.status).toBe(400)
    await expect.poll(statuses, PATIENCE).toEqual([400, 400])
  })

  test('lets a client use the Cognito API, and says what a password lacks, on every replica', async () => {
    const host = await fresh('cognito.test')
    const { data } = await read(host)
    const signUp = async (by: Stack, Password: string) => {
      const path = new URL(data.issuer).pathname
      const answer = await by.call(host, 'POST', path, {
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'AWSCognitoIdentityProviderService.SignUp',
        },
        body: JSON.stringify({
          ClientId: data.clients.default.clientId,
          Username: 'vic@cognito.test',
          Password,
        }),
      })
      return String(answer.json['__type'] ?? answer.status)
    }
    const onBoth = (password: string) => () =>
      Promise.all(replicas().map((replica) => signUp(replica, password)))
    const plain = 'correct horse'
    expect(await onBoth(plain)()).toEqual(Array(2).fill('ResourceNotFoundException'))
    await change(host, { data: { clients: { default: { cognitoApi: true } } } })
    expect(await signUp(stack, plain)).toBe('InvalidPasswordException')
    await expect.poll(onBoth(plain), PATIENCE).toEqual(Array(2).fill('InvalidPasswordException'))
    const lax = { requireUppercase: false, requireNumbers: false, requireSymbols: false }
    await change(host, { data: { passwordPolicy: lax } })
    expect(await signUp(stack, plain)).toBe('200')
    await expect.poll(onBoth(plain), PATIENCE).toEqual(['200', '200'])
    await change(host, { data: { selfSignUp: false } })
    await expect.poll(onBoth(plain), PATIENCE).toEqual(Array(2).fill('NotAuthorizedException'))
    await change(host, { data: { clients: { default: { cognitoApi: false } } } })
    await expect.poll(onBoth(plain), PATIENCE).toEqual(Array(2).fill('ResourceNotFoundException'))
  })
})
