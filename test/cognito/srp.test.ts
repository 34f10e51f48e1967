import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { N, hexOf } from '#identity/cognito/srp/group.ts'
import { CognitoApp, allowCognitoApi } from '#test/cognito-app.ts'
import type { Answer } from '#test/http-client.ts'
import { SrpClient, type SrpParameters } from '#test/srp-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const PASSWORD = 'Correct-horse-7'
const REFUSED = {
  __type: 'NotAuthorizedException',
  message: 'Incorrect username or password.',
}

let stack: Stack
let app: CognitoApp
let accounts = 0
beforeAll(async () => {
  stack = await startStack()
  app = await CognitoApp.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A fresh account: the tries of one do not slow down another. */
async function account(at = app): Promise<string> {
  accounts += 1
  const email = `srp${accounts}@mail.test`
  await at.accountAtOnce(email, PASSWORD)
  return email
}

const begin = (client: SrpClient, email: string, at = app): Promise<Answer> =>
  at.initiate('USER_SRP_AUTH', { USERNAME: email, SRP_A: client.publicHex })

const finish = (responses: Record<string, string>, at = app, on = stack): Promise<Answer> =>
  at.raw(
    'RespondToAuthChallenge',
    { ClientId: at.clientId, ChallengeName: 'PASSWORD_VERIFIER', ChallengeResponses: responses },
    on,
  )

interface Attempt {
  readonly client: SrpClient
  readonly challenge: SrpParameters
  /** The right answer to the challenge. */
  readonly answer: Record<string, string>
}

async function attempt(email: string, password = PASSWORD, at = app): Promise<Attempt> {
  const client = new SrpClient()
  const answer = await begin(client, email, at)
  expect(answer.status).toBe(200)
  const challenge: SrpParameters = answer.json.ChallengeParameters
  return {
    client,
    challenge,
    answer: client.answer(challenge, { userPoolId: at.userPoolId, password }),
  }
}

const signIn = async (email: string, password = PASSWORD, at = app): Promise<Answer> =>
  finish((await attempt(email, password, at)).answer, at)

describe('a challenge', () => {
  test('has the names that clients look for, and nothing else', async () => {
    const email = await account()
    const answer = await begin(new SrpClient(), ` ${email.toUpperCase()}`)
    expect(answer.headers['content-type']).toBe('application/x-amz-json-1.1')
    expect(answer.json).toEqual({
      ChallengeName: 'PASSWORD_VERIFIER',
      ChallengeParameters: {
        SALT: expect.stringMatching(/^[4-7][0-9a-f]{31}$/),
        SECRET_BLOCK: expect.stringMatching(/^[A-Za-z0-9+/]{1000,}={0,2}$/),
        SRP_B: expect.stringMatching(/^[0-9a-f]{700,768}$/),
        USERNAME: email,
        USER_ID_FOR_SRP: email,
      },
    })
  })

  test('is answered with tokens, as clients expect them', async () => {
    expect((await signIn(await account())).json).toEqual({
      AuthenticationResult: {
        AccessToken: expect.any(String),
        ExpiresIn: 3600,
        IdToken: expect.any(String),
        RefreshToken: expect.any(String),
        TokenType: 'Bearer',
      },
      ChallengeParameters: {},
    })
  })

  test('is answered on another replica than the one that made it', async () => {
    await using second = await startStack({ beside: stack })
    const { answer } = await attempt(await account())
    expect((await finish(answer, app, second)).status).toBe(200)
    expect((await finish(answer)).json).toEqual(REFUSED)
  })

  test('takes one answer, right or wrong', async () => {
    const email = await account()
    const right = await attempt(email)
    expect((await finish(right.answer)).status).toBe(200)
    expect((await finish(right.answer)).json).toEqual(REFUSED)

    const wrong = await attempt(email)
    const guess = wrong.client.answer(wrong.challenge, {
      userPoolId: app.userPoolId,
      password: 'Wrong-horse-7',
    })
    expect((await finish(guess)).json).toEqual(REFUSED)
    expect((await finish(wrong.answer)).json).toEqual(REFUSED)
  })

  test('lets one of many answers at once win', async () => {
    const { answer } = await attempt(await account())
    const answers = await Promise.all(Array.from({ length: 4 }, () => finish(answer)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('expires after three minutes, wherever it is answered', async () => {
    await using later = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() + 181_000) } },
    })
    const { client, challenge, answer } = await attempt(await account())
    const at = new Date(Date.now() + 181_000)
    const then = client.answer(challenge, { userPoolId: app.userPoolId, password: PASSWORD, at })
    expect((await finish(then, app, later)).json).toEqual(REFUSED)
    expect((await finish(answer)).status).toBe(200)
  })
})

describe('a proof is refused', () => {
  let email: string
  let elsewhere: Record<string, CognitoApp>
  beforeAll(async () => {
    elsewhere = {
      pool: await CognitoApp.of(stack, 'one.test', 'admin'),
      site: await CognitoApp.of(stack, 'two.test'),
    }
  })
  beforeEach(async () => {
    email = await account()
  })

  const of = (name: string): CognitoApp => {
    const other = elsewhere[name]
    if (!other) throw new Error(name)
    return other
  }
  const sign = ({ client, challenge }: Attempt, changes: Partial<SrpParameters>) =>
    client.answer({ ...challenge, ...changes }, { userPoolId: app.userPoolId, password: PASSWORD })

  test.each<[string, (own: Attempt) => Promise<Record<string, string>>]>([
    [
      'with the block of another user',
      async (own) =>
        sign(own, { SECRET_BLOCK: (await attempt(await account())).challenge.SECRET_BLOCK }),
    ],
    [
      'with the block of another pool',
      async (own) => {
        const other = await begin(own.client, email, of('pool'))
        return sign(own, { SECRET_BLOCK: other.json.ChallengeParameters.SECRET_BLOCK })
      },
    ],
    [
      'with the block of another site',
      async (own) => {
        const other = await begin(own.client, email, of('site'))
        return sign(own, { SECRET_BLOCK: other.json.ChallengeParameters.SECRET_BLOCK })
      },
    ],
    [
      'with another block of the same user',
      async (own) => sign(own, { SECRET_BLOCK: (await attempt(email)).challenge.SECRET_BLOCK }),
    ],
    [
      'with a block in which a bit has changed',
      async (own) => {
        const block = Buffer.from(own.challenge.SECRET_BLOCK, 'base64')
        block[40] = (block[40] ?? 0) ^ 1
        return sign(own, { SECRET_BLOCK: block.toString('base64') })
      },
    ],
    [
      'with half a block',
      async (own) => sign(own, { SECRET_BLOCK: own.challenge.SECRET_BLOCK.slice(0, 600) }),
    ],
    [
      'with a block of our own making',
      async (own) => sign(own, { SECRET_BLOCK: randomBytes(900).toString('base64') }),
    ],
    [
      'with a block that is no base64',
      async (own) => ({ ...own.answer, PASSWORD_CLAIM_SECRET_BLOCK: '!?' }),
    ],
    [
      'with the block under another name',
      async (own) => ({ ...own.answer, USERNAME: 'somebody@mail.test' }),
    ],
    [
      'with a signature of another password',
      async ({ client, challenge }) =>
        client.answer(challenge, { userPoolId: app.userPoolId, password: 'Wrong-horse-7' }),
    ],
    [
      'with a signature for another pool',
      async ({ client, challenge }) =>
        client.answer(challenge, { userPoolId: of('site').userPoolId, password: PASSWORD }),
    ],
    [
      'with a signature of other bytes',
      async (own) => ({
        ...own.answer,
        PASSWORD_CLAIM_SIGNATURE: randomBytes(32).toString('base64'),
      }),
    ],
    [
      'with a short signature',
      async (own) => ({ ...own.answer, PASSWORD_CLAIM_SIGNATURE: 'AA==' }),
    ],
    [
      'with a time that was not signed',
      async (own) => ({ ...own.answer, TIMESTAMP: 'Wed Apr 5 22:42:34 UTC 2017' }),
    ],
    [
      'by a clock that is six minutes fast',
      async ({ client, challenge }) =>
        client.answer(challenge, {
          userPoolId: app.userPoolId,
          password: PASSWORD,
          at: new Date(Date.now() + 360_000),
        }),
    ],
    [
      'by a clock that is six minutes slow',
      async ({ client, challenge }) =>
        client.answer(challenge, {
          userPoolId: app.userPoolId,
          password: PASSWORD,
          at: new Date(Date.now() - 360_000),
        }),
    ],
    [
      'with a time in another spelling',
      async ({ client, challenge }) =>
        client.answer(challenge, {
          userPoolId: app.userPoolId,
          password: PASSWORD,
          timestamp: new Date().toISOString(),
        }),
    ],
  ])('%s', async (_what, lie) => {
    const answer = await finish(await lie(await attempt(email)))
    expect(answer).toMatchObject({ status: 400, json: REFUSED })
    expect((await signIn(email)).status).toBe(200)
  })

  test('not for a clock that is four minutes off', async () => {
    const { client, challenge } = await attempt(email)
    const at = new Date(Date.now() - 240_000)
    const late = client.answer(challenge, { userPoolId: app.userPoolId, password: PASSWORD, at })
    expect((await finish(late)).status).toBe(200)
  })

  test('when the password was changed after the challenge', async () => {
    const { answer } = await attempt(email)
    const AccessToken = (await signIn(email)).json.AuthenticationResult.AccessToken
    await app.ok('ChangePassword', {
      AccessToken,
      PreviousPassword: PASSWORD,
      ProposedPassword: 'Another-horse-8',
    })
    expect((await finish(answer)).json).toEqual(REFUSED)
    expect((await signIn(email, 'Another-horse-8')).status).toBe(200)
  })
})

describe('a public value is refused', () => {
  test.each([
    ['zero', '0'],
    ['the prime', hexOf(N)],
    ['twice the prime', hexOf(2n * N)],
    ['no number', 'g'.repeat(64)],
    ['far too long', 'f'.repeat(8000)],
  ])('that is %s', async (_what, hex) => {
    const answer = await app.initiate('USER_SRP_AUTH', { USERNAME: 'a@mail.test', SRP_A: hex })
    expect(answer).toMatchObject({
      status: 400,
      json: { __type: 'InvalidParameterException', message: 'SRP_A is not a valid public value' },
    })
  })
})

describe('an unknown user', () => {
  const shapeOf = ({ json }: Answer) =>
    Object.entries<string>(json.ChallengeParameters).map(([name, value]) => [name, value.length])

  test('gets the same challenge as any other, and is refused like a wrong password', async () => {
    const known = await begin(new SrpClient(), await account())
    const unknown = await begin(new SrpClient(), 'nobody@mail.test')
    expect(Object.keys(unknown.json)).toEqual(Object.keys(known.json))
    expect(shapeOf(unknown).map(([name]) => name)).toEqual(shapeOf(known).map(([name]) => name))
    expect(Object.keys(unknown.headers).sort()).toEqual(Object.keys(known.headers).sort())
    expect((await signIn('nobody@mail.test')).json).toEqual(REFUSED)
  })

  test('has the same salt each time, and another public value', async () => {
    const [one, two] = [await attempt('nobody@mail.test'), await attempt('Nobody@Mail.Test')]
    expect(two.challenge.SALT).toBe(one.challenge.SALT)
    expect(two.challenge.USER_ID_FOR_SRP).toBe(one.challenge.USER_ID_FOR_SRP)
    expect(two.challenge.SRP_B).not.toBe(one.challenge.SRP_B)
    const other = await attempt('no-one@mail.test')
    expect(other.challenge.SALT).not.toBe(one.challenge.SALT)
  })

  test('keeps the salt when there is an account, a new password, and no account any more', async () => {
    const email = 'later@mail.test'
    const saltNow = async () => (await attempt(email)).challenge.SALT
    const before = await saltNow()
    await app.accountAtOnce(email, PASSWORD)
    expect(await saltNow()).toBe(before)
    const AccessToken = (await signIn(email)).json.AuthenticationResult.AccessToken
    await app.ok('ChangePassword', {
      AccessToken,
      PreviousPassword: PASSWORD,
      ProposedPassword: 'Another-horse-8',
    })
    expect(await saltNow()).toBe(before)
    await asSuperuser(stack, (sql) => sql`delete from pool_user where email = ${email}`)
    expect(await saltNow()).toBe(before)
    expect((await signIn(email, 'Another-horse-8')).json).toEqual(REFUSED)
  })

  test.each(['', 'no address', '\u0000@mail.test', `${'x'.repeat(300)}@mail.test`, 'ⓐ@mail.test'])(
    'may have typed %j',
    async (typed) => {
      const answer = await begin(new SrpClient(), typed)
      expect([200, 400]).toContain(answer.status)
      expect((await begin(new SrpClient(), typed)).status).toBe(answer.status)
    },
  )

  test('cannot be distinguished from an account that has no password', async () => {
    const { sites, pools, users } = stack.context
    const site = await sites.find('one.test')
    const pool = await pools.byId(site, app.userPoolId)
    await users.ensureVisitor(site, pool, 'no-password@mail.test')
    expect((await signIn('no-password@mail.test')).json).toEqual(REFUSED)
    const admins = await CognitoApp.of(stack, 'one.test', 'admin')
    expect((await signIn('ann@one.test', PASSWORD, admins)).json).toEqual(REFUSED)
  })

  test('is answered in the same time', async () => {
    const email = await account()
    const times: Record<string, number[]> = { known: [], unknown: [] }
    const client = new SrpClient()
    for (let round = 0; round < 150; round += 1) {
      for (const [kind, who] of round % 2 === 0 ? PAIR : PAIR.toReversed()) {
        const started = performance.now()
        await begin(client, who === 'known' ? email : `nobody${round}@mail.test`)
        times[kind]?.push(performance.now() - started)
      }
    }
    const [known, unknown] = [medianOf(times['known']), medianOf(times['unknown'])]
    expect(unknown / known).toBeGreaterThan(0.8)
    expect(unknown / known).toBeLessThan(1.25)
  })
})

const PAIR = [
  ['known', 'known'],
  ['unknown', 'unknown'],
] as const

const medianOf = (times: readonly number[] = []): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

describe('an account without a verifier', () => {
  test('gets one at its next sign-in with the password itself', async () => {
    const late = await CognitoApp.of(stack, 'two.test')
    const email = await account(late)
    await asSuperuser(stack, (sql) => sql`update user_password set sealed_srp = null`)
    expect((await signIn(email, PASSWORD, late)).json).toEqual(REFUSED)
    const parameters = { USERNAME: email, PASSWORD }
    expect((await late.initiate('USER_PASSWORD_AUTH', parameters)).status).toBe(200)
    expect((await signIn(email, PASSWORD, late)).status).toBe(200)
  })

  test('is one whose address has changed, too', async () => {
    const [email, now] = [await account(), 'moved@mail.test']
    await asSuperuser(
      stack,
      (sql) => sql`update pool_user set email = ${now} where email = ${email}`,
    )
    for (const address of [email, now]) expect((await signIn(address)).json).toEqual(REFUSED)
    await app.initiate('USER_PASSWORD_AUTH', { USERNAME: now, PASSWORD })
    expect((await signIn(now)).status).toBe(200)
  })

  test('is every one of a pool whose clients may not use the API', async () => {
    await stack.createSite({ domain: 'plain.test', superAdmins: ['ann@plain.test'] })
    await allowCognitoApi(stack, 'plain.test', 'data')
    const plain = await CognitoApp.of(stack, 'plain.test', 'data')
    await plain.accountAtOnce('with@mail.test', PASSWORD)
    await allowCognitoApi(stack, 'plain.test', 'data', false)
    const { sites, pools, signUps } = stack.context
    const site = await sites.find('plain.test')
    const pool = await pools.byId(site, plain.userPoolId)
    const origin = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }
    await signUps.signUp({ site, pool, origin }, { email: 'without@mail.test', password: PASSWORD })
    const sealed = await asSuperuser(
      stack,
      (sql) => sql`
        select count(*)::int as rows, count(sealed_srp)::int as sealed from (
          select sealed_srp from user_password where user_pool_id = ${plain.userPoolId}
          union all
          select sealed_srp from pending_sign_up where user_pool_id = ${plain.userPoolId}
        ) as passwords`,
    )
    expect(sealed[0]).toEqual({ rows: 2, sealed: 1 })
  })
})

describe('tries', () => {
  test('are counted with those at the password itself, known or not', async () => {
    for (const email of [await account(), 'nobody-tries@mail.test']) {
      for (let round = 0; round < 5; round += 1) {
        const answer =
          round % 2 === 0
            ? await signIn(email, 'Wrong-horse-7')
            : await app.initiate('USER_PASSWORD_AUTH', {
                USERNAME: email,
                PASSWORD: 'Wrong-horse-7',
              })
        expect(answer.json).toEqual(REFUSED)
      }
      const blocked = await signIn(email)
      expect(blocked).toMatchObject({
        status: 400,
        json: { __type: 'NotAuthorizedException', message: 'Password attempts exceeded' },
        headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      })
    }
  })

  test('leave a trail, in which no secret is', async () => {
    const email = await account()
    await signIn(email, 'Wrong-horse-7')
    await signIn(email)
    const trail = await stack.portal(
      'GET',
      `/sites/one.test/audit?email=${encodeURIComponent(email)}`,
    )
    expect(trail.json.items).toContainEqual(
      expect.objectContaining({ event: 'sign-in.failed', detail: { method: 'srp' } }),
    )
    expect(trail.text).not.toMatch(/horse|SECRET/)
    expect(trail.json.items).toContainEqual(
      expect.objectContaining({
        event: 'sign-in.succeeded',
        clientId: app.clientId,
        detail: { method: 'srp' },
      }),
    )
  })
})
