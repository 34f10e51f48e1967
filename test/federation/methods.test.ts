import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import { accountOf, googleFor, lastEvent, walkToGoogle } from '#test/google-sign-in.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PASSWORD, methodsOf, signInWithPassword, signUp } from '#test/visitors.ts'

const HOST = 'one.test'

let stack: Stack
let google: FakeGoogle
beforeAll(async () => {
  stack = await startStack()
  google = await googleFor(stack, [HOST])
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const add = (token: string | undefined, body: unknown) =>
  stack.call(HOST, 'POST', '/data/auth/password/add', { token, body })

const start = (token: string, body: unknown) =>
  stack.call(HOST, 'POST', '/data/auth/proof/start', { token, body })

/** The code that is mailed to the owner of an account without a password. */
async function proofOf({ accessToken, email }: { accessToken: string; email: string }) {
  const started = await start(accessToken, { action: 'password', method: 'code' })
  expect(started).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: { ok: true, data: { sentTo: email, expiresAt: expect.stringMatching(/Z$/) } },
  })
  return { proofCode: codeIn(await mailTo(stack, email, 'proof')) }
}

let people = 0
const fromGoogle = async () => {
  const name = `new-${++people}`
  google.person = { subject: `g-${name}`, email: `${name}@example.test` }
  return accountOf(stack, await walkToGoogle(stack, HOST))
}

describe('the methods of an account', () => {
  test('are a password, for a visitor who signed up with one', async () => {
    const { token, email } = await signUp(stack, HOST, 'pia@example.test')
    const answer = await stack.call(HOST, 'GET', '/data/auth/methods', { token })
    expect(answer.json).toEqual({
      ok: true,
      data: {
        username: email,
        email,
        emailVerified: true,
        methods: { password: { enabled: true }, google: { enabled: false } },
      },
    })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('are Google, for a visitor who came from there, while the site has it', async () => {
    const { accessToken } = await fromGoogle()
    const linkedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
    const methods = { password: { enabled: false }, google: { enabled: true, linkedAt } }
    expect(await methodsOf(stack, HOST, accessToken)).toEqual(methods)
    const route = `/sites/${HOST}/auth/providers/google`
    await stack.portal('PUT', route, { enabled: false })
    expect((await methodsOf(stack, HOST, accessToken)).google).toEqual({ enabled: false, linkedAt })
    await stack.portal('PUT', route, { enabled: true })
    expect(await methodsOf(stack, HOST, accessToken)).toEqual(methods)
  })

  test('are neither, for a visitor that the operator made', async () => {
    const token = await stack.dataToken(HOST, { user: 'made@example.test' })
    expect(await methodsOf(stack, HOST, token)).toEqual({
      password: { enabled: false },
      google: { enabled: false },
    })
  })
})

describe('adding a password', () => {
  test('lets a visitor who came from Google sign in with it, to the same account', async () => {
    const { accessToken, email, sub } = await fromGoogle()
    const proof = await proofOf({ accessToken, email })
    const answer = await add(accessToken, { password: PASSWORD, proof })
    expect(answer).toMatchObject({
      status: 200,
      json: { ok: true, data: { passwordEnabled: true } },
    })
    expect(await methodsOf(stack, HOST, accessToken)).toMatchObject({
      password: { enabled: true },
      google: { enabled: true },
    })
    const walk = await signInWithPassword(stack, HOST, { email })
    expect(await accountOf(stack, walk)).toMatchObject({ sub, email })
    expect(await lastEvent(stack, 'password.added')).toMatchObject({ sub })
    expect(stack.app.recorded.has('POST /data/auth/password/add password.added')).toBe(true)
  })

  test('is for accounts without one', async () => {
    const person = await fromGoogle()
    const { accessToken } = person
    const proof = await proofOf(person)
    expect((await add(accessToken, { password: PASSWORD, proof })).status).toBe(200)
    const again = await add(accessToken, { password: `${PASSWORD}!`, proof })
    expect(again).toMatchObject({
      status: 409,
      json: { ok: false, error: { code: 'PasswordAlreadySet' } },
    })
  })

  test('happens once, however often it is asked for at the same moment', async () => {
    const person = await fromGoogle()
    const { accessToken } = person
    const proof = await proofOf(person)
    const answers = await Promise.all(
      [1, 2, 3].map((which) => add(accessToken, { password: `${PASSWORD}${which}`, proof })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    // The others find the password, or a code that is used up.
    expect(statuses.filter((status) => ![200, 400, 409].includes(status))).toEqual([])
  })

  test.each<[string, object, string]>([
    ['one that is too short', { password: 'Aa1!' }, 'InvalidPassword'],
    ['one without a digit', { password: 'Correct-Horse' }, 'InvalidPassword'],
    ['one of 300 characters', { password: `Aa1!${'x'.repeat(300)}` }, 'InvalidPassword'],
    ['none', {}, 'ValidationError'],
    ['a number', { password: 12345678 }, 'ValidationError'],
    ['an unknown field', { password: PASSWORD, sub: 'other' }, 'ValidationError'],
  ])('refuses %s', async (_what, body, code) => {
    const person = await fromGoogle()
    const { accessToken } = person
    const proof = await proofOf(person)
    expect(await add(accessToken, { proof, ...body })).toMatchObject({
      status: 400,
      json: { ok: false, error: { code } },
    })
    expect((await methodsOf(stack, HOST, accessToken)).password.enabled).toBe(false)
  })

  test('needs a proof of the account’s owner, however recent the sign-in is', async () => {
    const { accessToken, email } = await fromGoogle()
    expect(await add(accessToken, { password: PASSWORD })).toMatchObject({
      status: 403,
      json: { ok: false, error: { code: 'RecentSignInRequired' } },
    })
    const { proofCode } = await proofOf({ accessToken, email })
    for (const proof of [{ proofCode: '1' }, { currentPassword: PASSWORD }, { proofCode: '' }]) {
      expect(await add(accessToken, { password: PASSWORD, proof })).toMatchObject({
        status: 400,
        json: { error: { code: 'ValidationError', details: [{ field: 'proofCode' }] } },
      })
    }
    expect((await methodsOf(stack, HOST, accessToken)).password.enabled).toBe(false)
    const other = await fromGoogle()
    expect(
      await add(other.accessToken, { password: PASSWORD, proof: { proofCode } }),
    ).toMatchObject({ status: 400 })
    const again = await start(other.accessToken, { action: 'google', method: 'code' })
    expect(again.status).toBe(200)
    const linking = codeIn(await mailTo(stack, other.email, 'proof'))
    const proof = { proofCode: linking }
    expect((await add(other.accessToken, { password: PASSWORD, proof })).status).toBe(400)
  })

  test('mails no code to the owner of a password, and gives challenges to sign', async () => {
    const { token } = await signUp(stack, HOST, 'rea@example.test')
    expect(await start(token, { action: 'google', method: 'code' })).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', details: [{ field: 'proofCode' }] } },
    })
    expect((await start(token, { action: 'google', method: 'passkey' })).json.data).toMatchObject({
      options: { challenge: expect.stringMatching(/^[\w-]{43}$/), rpId: HOST },
      challenge: expect.stringMatching(/^[\w-]{100,}$/),
    })
    expect((await start(token, { action: 'deletion', method: 'code' })).status).toBe(400)
  })

  test('needs a visitor’s access token that is still valid', async () => {
    const { accessToken, sub } = await fromGoogle()
    const site = await stack.context.sites.find(HOST)
    const { userPoolId } = await stack.context.pools.discovery(site)
    for (const token of [undefined, await stack.adminToken(HOST)]) {
      expect(await add(token, { password: PASSWORD })).toMatchObject({ status: 401 })
    }
    await stack.context.users.revokeTokens(site, userPoolId, sub)
    expect(await add(accessToken, { password: PASSWORD })).toMatchObject({
      status: 401,
      json: { ok: false, error: { code: 'Unauthorized' } },
    })
  })
})
