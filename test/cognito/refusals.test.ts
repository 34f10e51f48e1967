import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CognitoApp } from '#test/cognito-app.ts'
import type { Answer } from '#test/http-client.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const PASSWORD = 'Correct-horse-7'
const KNOWN = 'known@mail.test'
const NOBODY = 'nobody@mail.test'
const SRP_A = 'ab'.repeat(128)

let stack: Stack
let app: CognitoApp
/** Of the other pool, of another site, for linking, and one that may not use the API. */
let clients: Record<'admins' | 'elsewhere' | 'link' | 'plain', string>
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test', 'two.test', 'plain.test'] })
  app = await CognitoApp.of(stack, 'one.test')
  await app.accountAtOnce(KNOWN, PASSWORD)
  const site = await stack.context.sites.find('one.test')
  const pool = await stack.context.pools.byId(site, app.userPoolId)
  clients = {
    admins: (await CognitoApp.of(stack, 'one.test', 'admin')).clientId,
    elsewhere: (await CognitoApp.of(stack, 'two.test')).clientId,
    link: [...pool.clients.values()].find(({ purpose }) => purpose === 'link')?.clientId ?? '',
    plain: (await CognitoApp.of(stack, 'plain.test', 'data', { allowed: false })).clientId,
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

type Body = Readonly<Record<string, unknown>>

const send = (target: string, body: Body): Promise<Answer> =>
  app.raw(target, { ClientId: app.clientId, ...body })

const auth = (AuthFlow: string, AuthParameters: Body): Promise<Answer> =>
  send('InitiateAuth', { AuthFlow, AuthParameters })

async function tokens(): Promise<{ access: string; id: string; refresh: string }> {
  const { json } = await auth('USER_PASSWORD_AUTH', { USERNAME: KNOWN, PASSWORD })
  const { AccessToken, IdToken, RefreshToken } = json.AuthenticationResult
  return { access: AccessToken, id: IdToken, refresh: RefreshToken }
}

/** With everything that a request to each target needs. */
const COMPLETE: Readonly<Record<string, Body>> = {
  SignUp: { Username: 'new@mail.test', Password: PASSWORD },
  ConfirmSignUp: { Username: 'new@mail.test', ConfirmationCode: '123456' },
  ResendConfirmationCode: { Username: 'new@mail.test' },
  InitiateAuth: { AuthFlow: 'USER_SRP_AUTH', AuthParameters: { USERNAME: NOBODY, SRP_A } },
  RespondToAuthChallenge: { ChallengeName: 'PASSWORD_VERIFIER', ChallengeResponses: {} },
  GetTokensFromRefreshToken: { RefreshToken: 'x' },
  ForgotPassword: { Username: NOBODY },
  ConfirmForgotPassword: { Username: NOBODY, ConfirmationCode: '123456', Password: PASSWORD },
  RevokeToken: { Token: 'x' },
}

describe('a refusal', () => {
  test('has Cognito’s shape, and says nothing that a cache may keep', async () => {
    const answer = await auth('USER_PASSWORD_AUTH', { USERNAME: KNOWN, PASSWORD: 'wrong' })
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({
      __type: 'NotAuthorizedException',
      message: 'Incorrect username or password.',
    })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.1',
      'cache-control': 'no-store',
      'x-amzn-errortype': 'NotAuthorizedException:',
      'x-amzn-requestid': answer.headers['x-request-id'],
    })
  })

  test('can be read by a page of any origin, which sends no cookies along', async () => {
    const origin = 'https://app.elsewhere.test'
    const path = new URL(app.issuer).pathname
    const preflight = await stack.call('one.test', 'OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'cache-control,content-type,x-amz-target,x-amz-user-agent',
      },
    })
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
    })
    const allowed = preflight.headers['access-control-allow-headers']?.split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining(['cache-control', 'content-type', 'x-amz-target', 'x-amz-user-agent']),
    )
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
    const answer = await stack.call('one.test', 'POST', path, { headers: { origin }, body: '{}' })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-expose-headers']).toContain('x-amzn-errortype')
  })
})

describe('a request is refused', () => {
  const headers = (target: string, type = 'application/x-amz-json-1.1') => ({
    'content-type': type,
    ...(target !== '' && { 'x-amz-target': target }),
  })
  const post = (body: string, target: string, type?: string) =>
    stack.call('one.test', 'POST', new URL(app.issuer).pathname, {
      body,
      headers: headers(target, type),
    })
  const SERVICE = 'AWSCognitoIdentityProviderService.'

  test.each([
    ['without a target', '{}', '', 'UnknownOperationException'],
    ['for another service', '{}', 'DynamoDB_20120810.GetItem', 'UnknownOperationException'],
    ['for no target of ours', '{}', `${SERVICE}AdminCreateUser`, 'UnknownOperationException'],
    ['for an inherited name', '{}', `${SERVICE}constructor`, 'UnknownOperationException'],
    ['in another spelling', '{}', `${SERVICE}getuser`, 'UnknownOperationException'],
    ['that is no JSON', '{"broken', `${SERVICE}GetUser`, 'SerializationException'],
    ['that is empty', '', `${SERVICE}GetUser`, 'SerializationException'],
    [
      'that is nested too deep',
      `{"a":${'['.repeat(40)}${']'.repeat(40)}}`,
      `${SERVICE}GetUser`,
      'SerializationException',
    ],
    ['that is a list', '[]', `${SERVICE}GetUser`, 'InvalidParameterException'],
    ['that is null', 'null', `${SERVICE}GetUser`, 'InvalidParameterException'],
    [
      'with a number for text',
      '{"AccessToken":5}',
      `${SERVICE}GetUser`,
      'InvalidParameterException',
    ],
  ])('%s', async (_what, body, target, type) => {
    expect(await post(body, target)).toMatchObject({ status: 400, json: { __type: type } })
  })

  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'as %s',
    async (type) => {
      expect(await post('{}', `${SERVICE}GetUser`, type)).toMatchObject({
        status: 400,
        json: { __type: 'SerializationException' },
      })
    },
  )

  test('of more than 64 KiB, before it is read', async () => {
    const answer = await post(`"${'x'.repeat(70_000)}"`, `${SERVICE}GetUser`)
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } })
  })

  test('at a pool that is not of this site', async () => {
    const elsewhere = await CognitoApp.of(stack, 'two.test')
    const answer = await stack.call('one.test', 'POST', new URL(elsewhere.issuer).pathname, {
      body: '{}',
      headers: headers(`${SERVICE}GetUser`),
    })
    expect(answer).toMatchObject({ status: 400, json: { __type: 'ResourceNotFoundException' } })
  })

  test.each(Object.keys(COMPLETE))('%s without any field', async (target) => {
    expect(await app.raw(target, {})).toMatchObject({
      status: 400,
      json: {
        __type: 'InvalidParameterException',
        message: expect.stringMatching(/^\d validation errors? detected: .*ClientId is required/),
      },
    })
  })
})

describe('a client does not exist', () => {
  test.each(Object.entries(COMPLETE))('for %s unless it may use the API', async (target, body) => {
    const others = { ...clients, unknown: 'a'.repeat(26), inherited: 'constructor' }
    for (const [what, ClientId] of Object.entries(others)) {
      expect(await app.raw(target, { ...body, ClientId }), what).toMatchObject({
        status: 400,
        json: {
          __type: 'ResourceNotFoundException',
          message: `User pool client ${ClientId} does not exist.`,
        },
      })
    }
    const plain = await CognitoApp.of(stack, 'plain.test', 'data', { allowed: false })
    expect(await plain.raw(target, { ...body, ClientId: plain.clientId })).toMatchObject({
      json: { __type: 'ResourceNotFoundException' },
    })
  })

  test('with a secret', async () => {
    for (const answer of [
      await send('ForgotPassword', { Username: NOBODY, SecretHash: 'x' }),
      await auth('USER_PASSWORD_AUTH', { USERNAME: KNOWN, PASSWORD, SECRET_HASH: 'x' }),
      await send('RevokeToken', { Token: 'x', ClientSecret: 'x' }),
    ]) {
      expect(answer.json).toEqual({
        __type: 'NotAuthorizedException',
        message: `Unable to verify secret hash for client ${app.clientId}`,
      })
    }
  })
})

describe('a sign-in is refused', () => {
  test.each([
    ['by an unknown flow', 'NO_SUCH_AUTH', {}],
    ['by a flow for servers', 'ADMIN_USER_PASSWORD_AUTH', { USERNAME: KNOWN, PASSWORD }],
    ['by a flow of its own', 'CUSTOM_AUTH', { USERNAME: KNOWN }],
    ['by an inherited name', '__proto__', {}],
    ['without a user', 'USER_PASSWORD_AUTH', { PASSWORD }],
    ['without a password', 'USER_PASSWORD_AUTH', { USERNAME: KNOWN }],
    ['with an empty password', 'USER_PASSWORD_AUTH', { USERNAME: KNOWN, PASSWORD: '' }],
    ['without a public value', 'USER_SRP_AUTH', { USERNAME: KNOWN }],
    ['with null for a user', 'USER_SRP_AUTH', { USERNAME: null, SRP_A }],
    ['without a refresh token', 'REFRESH_TOKEN_AUTH', {}],
    ['with an object for a user', 'USER_SRP_AUTH', { USERNAME: {}, SRP_A }],
  ])('%s', async (_what, flow, parameters) => {
    expect(await auth(flow, parameters)).toMatchObject({
      status: 400,
      json: { __type: 'InvalidParameterException' },
    })
  })

  test.each(['SMS_MFA', 'NEW_PASSWORD_REQUIRED', 'DEVICE_SRP_AUTH'])(
    'as an answer to %s',
    async (ChallengeName) => {
      const answer = await send('RespondToAuthChallenge', {
        ChallengeName,
        ChallengeResponses: { USERNAME: KNOWN },
      })
      expect(answer.json).toMatchObject({ __type: 'InvalidParameterException' })
    },
  )

  test.each(['USERNAME', 'PASSWORD_CLAIM_SECRET_BLOCK', 'TIMESTAMP', 'PASSWORD_CLAIM_SIGNATURE'])(
    'without %s in the answer',
    async (missing) => {
      const all = {
        USERNAME: KNOWN,
        PASSWORD_CLAIM_SECRET_BLOCK: 'x',
        TIMESTAMP: 'x',
        PASSWORD_CLAIM_SIGNATURE: 'x',
      }
      const answer = await send('RespondToAuthChallenge', {
        ChallengeName: 'PASSWORD_VERIFIER',
        ChallengeResponses: { ...all, [missing]: null },
      })
      expect(answer.json).toEqual({
        __type: 'InvalidParameterException',
        message: `Missing required parameter ${missing}`,
      })
    },
  )
})

describe('a sign-up is refused', () => {
  const attributes = (...UserAttributes: object[]) => ({ UserAttributes })
  test.each<[string, Body, string, RegExp]>([
    [
      'under a name that is no address',
      { Username: 'zoe' },
      'InvalidParameterException',
      /^Username should be an email\.$/,
    ],
    [
      'with an attribute that is nowhere kept',
      attributes({ Name: 'phone_number', Value: '+1' }),
      'InvalidParameterException',
      /^Attributes did not conform to the schema: phone_number/,
    ],
    [
      'with another address',
      attributes({ Name: 'email', Value: 'other@mail.test' }),
      'InvalidParameterException',
      /^The attribute email must be/,
    ],
    [
      'with a short password',
      { Password: 'Sh0rt!' },
      'InvalidPasswordException',
      /^Password did not conform with policy: Password /,
    ],
    [
      'with a common password',
      { Password: 'Password1!' },
      'InvalidPasswordException',
      /^Password did not conform with policy: /,
    ],
    [
      'with a password that is endless',
      { Password: `Aa1!${'x'.repeat(253)}` },
      'InvalidPasswordException',
      /^Password did not conform with policy: /,
    ],
  ])('%s', async (_what, body, type, message) => {
    const answer = await send('SignUp', { Username: 'zoe@mail.test', Password: PASSWORD, ...body })
    expect(answer).toMatchObject({
      status: 400,
      json: { __type: type, message: expect.stringMatching(message) },
    })
  })

  test('but not under an address that has an account: its owner is notified, no other', async () => {
    const answers = []
    for (const Username of [KNOWN, 'fresh@mail.test']) {
      answers.push(
        await send('SignUp', {
          Username,
          Password: PASSWORD,
          ...attributes({ Name: 'email', Value: Username }),
        }),
      )
    }
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 200,
        json: { UserConfirmed: false, UserSub: expect.any(String) },
      })
    }
    await mailTo(stack, KNOWN, 'account-exists')
    expect(await allMailTo(stack, KNOWN, 'verification')).toEqual([])
  })
})

describe('a code', () => {
  test('is wrong in the same words for a sign-up, an account and an unknown address', async () => {
    await send('SignUp', { Username: 'codes@mail.test', Password: PASSWORD })
    for (const Username of ['codes@mail.test', KNOWN, NOBODY]) {
      expect((await send('ConfirmSignUp', { Username, ConfirmationCode: 'x' })).json).toEqual({
        __type: 'CodeMismatchException',
        message: 'Invalid verification code provided, please try again.',
      })
      const reset = { Username, ConfirmationCode: 'x', Password: PASSWORD }
      expect((await send('ConfirmForgotPassword', reset)).json).toEqual({
        __type: 'CodeMismatchException',
        message: 'Invalid verification code provided, please try again.',
      })
    }
  })

  test('dies of five wrong ones, also when the right one follows', async () => {
    const Username = 'five@mail.test'
    await send('SignUp', { Username, Password: PASSWORD })
    const right = codeIn(await mailTo(stack, Username, 'verification'))
    const wrong = right === '000000' ? '000001' : '000000'
    for (let round = 0; round < 5; round += 1) {
      await send('ConfirmSignUp', { Username, ConfirmationCode: wrong })
    }
    expect((await send('ConfirmSignUp', { Username, ConfirmationCode: right })).json).toMatchObject(
      { __type: 'CodeMismatchException' },
    )
  })

  test('is mailed a few times an hour, to known and unknown addresses', async () => {
    for (const Username of ['often@mail.test', 'never@mail.test']) {
      const answers = []
      for (let round = 0; round < 6; round += 1) {
        answers.push(await send('ForgotPassword', { Username }))
      }
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 400])
      expect(answers[5]).toMatchObject({
        json: {
          __type: 'LimitExceededException',
          message: 'Attempt limit exceeded, please try after some time.',
        },
        headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      })
    }
    expect((await send('ResendConfirmationCode', { Username: 'never@mail.test' })).json).toEqual({
      __type: 'LimitExceededException',
      message: 'Attempt limit exceeded, please try after some time.',
    })
  })

  test('is said to be on its way to an unknown address, too', async () => {
    for (const target of ['ForgotPassword', 'ResendConfirmationCode']) {
      expect((await send(target, { Username: NOBODY })).json).toEqual({
        CodeDeliveryDetails: {
          AttributeName: 'email',
          DeliveryMedium: 'EMAIL',
          Destination: 'n***@m***',
        },
      })
    }
  })
})

describe('an access token is refused', () => {
  const WITH_TOKEN: Readonly<Record<string, Body>> = {
    GetUser: {},
    GlobalSignOut: {},
    ChangePassword: { PreviousPassword: PASSWORD, ProposedPassword: 'Another-horse-8' },
  }

  /** What is wrong with each, and what is said about it. */
  async function foreign(): Promise<readonly [string, string, string][]> {
    const { id, refresh, access } = await tokens()
    const elsewhere = await CognitoApp.of(stack, 'two.test')
    await elsewhere.accountAtOnce('there@mail.test', PASSWORD)
    const there = await elsewhere.initiate('USER_PASSWORD_AUTH', {
      USERNAME: 'there@mail.test',
      PASSWORD,
    })
    const client = await RelyingParty.of(stack, 'one.test')
    const hosted = await client.signIn(await client.user(KNOWN))
    await using yesterday = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() - 2 * 3_600_000) } },
    })
    const old = await (
      await CognitoApp.of(yesterday, 'one.test')
    ).initiate('USER_PASSWORD_AUTH', {
      USERNAME: KNOWN,
      PASSWORD,
    })
    const [header, payload] = access.split('.')
    const lacking = 'Access Token does not have required scopes'
    const wrong = 'Invalid Access Token'
    return [
      ['a word', 'x', wrong],
      ['an id token', id, wrong],
      ['a refresh token', refresh, wrong],
      ['one without a signature', `${header}.${payload}.`, wrong],
      ['one of the admin pool', await stack.adminToken('one.test'), wrong],
      ['one of another site', there.json.AuthenticationResult.AccessToken, wrong],
      ['one that the operator minted', await stack.dataToken('one.test', { user: KNOWN }), lacking],
      [
        'one of the hosted sign-in',
        (await client.exchange(hosted.code)).json.access_token,
        lacking,
      ],
      [
        'one of two hours ago',
        old.json.AuthenticationResult.AccessToken,
        'Access Token has expired',
      ],
    ]
  }

  test('when it is not of a sign-in with this API, or not good any more', async () => {
    const [refusals, targets] = [await foreign(), Object.entries(WITH_TOKEN)]
    for (const [what, AccessToken, message] of refusals) {
      for (const [target, body] of targets) {
        expect(
          (await app.raw(target, { ...body, AccessToken })).json,
          `${target}: ${what}`,
        ).toEqual({ __type: 'NotAuthorizedException', message })
      }
    }
    const { access: AccessToken } = await tokens()
    expect((await app.raw('GetUser', { AccessToken })).status).toBe(200)
  })
})

describe('a refresh token', () => {
  test('that is used again within ten seconds gets the same tokens', async () => {
    const { refresh } = await tokens()
    const next = await auth('REFRESH_TOKEN', { REFRESH_TOKEN: refresh })
    expect(next.json.AuthenticationResult.RefreshToken).not.toBe(refresh)
    expect(await auth('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN: refresh })).toMatchObject({
      status: 200,
      json: next.json,
    })
  })

  test('that is used again later ends the whole sign-in', async () => {
    const { refresh } = await tokens()
    const next = await auth('REFRESH_TOKEN', { REFRESH_TOKEN: refresh })
    const newest = next.json.AuthenticationResult
    const INVALID = { __type: 'NotAuthorizedException', message: 'Invalid Refresh Token' }
    await asSuperuser(
      stack,
      (sql) => sql`update refresh_response set expires_at = now() - interval '1 second'`,
    )
    expect((await auth('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN: refresh })).json).toEqual(INVALID)
    expect(
      (await send('GetTokensFromRefreshToken', { RefreshToken: newest.RefreshToken })).json,
    ).toEqual(INVALID)
    expect((await app.raw('GetUser', { AccessToken: newest.AccessToken })).json).toEqual({
      __type: 'NotAuthorizedException',
      message: 'Access Token has been revoked',
    })
  })

  test('is turned into the next tokens under its newer name as well', async () => {
    const { refresh } = await tokens()
    const answer = await send('GetTokensFromRefreshToken', { RefreshToken: refresh })
    expect(answer.json.AuthenticationResult).toMatchObject({
      TokenType: 'Bearer',
      RefreshToken: expect.any(String),
      IdToken: expect.any(String),
    })
  })

  test('of another pool or of an unknown user gets the same error', async () => {
    const elsewhere = await CognitoApp.of(stack, 'two.test')
    await elsewhere.accountAtOnce('refresh@mail.test', PASSWORD)
    const there = await elsewhere.initiate('USER_PASSWORD_AUTH', {
      USERNAME: 'refresh@mail.test',
      PASSWORD,
    })
    const foreign: string = there.json.AuthenticationResult.RefreshToken
    for (const REFRESH_TOKEN of [foreign, 'x', '\u0000', 'x'.repeat(8000)]) {
      expect((await auth('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN })).json).toEqual({
        __type: 'NotAuthorizedException',
        message: 'Invalid Refresh Token',
      })
      expect(await send('RevokeToken', { Token: REFRESH_TOKEN })).toMatchObject({
        status: 200,
        json: {},
      })
    }
    expect(
      (await elsewhere.initiate('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN: foreign })).status,
    ).toBe(200)
  })

  test('is what can be revoked, an access token is not', async () => {
    const { access } = await tokens()
    expect((await send('RevokeToken', { Token: access })).json).toMatchObject({
      __type: 'UnsupportedTokenTypeException',
    })
    expect((await app.raw('GetUser', { AccessToken: access })).status).toBe(200)
  })
})
