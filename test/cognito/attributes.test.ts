import type { CognitoUser } from 'amazon-cognito-identity-js'
import { CognitoUserAttribute } from 'amazon-cognito-identity-js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { CognitoApp, answered, fetchTo } from '#test/cognito-app.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const PASSWORD = 'Correct-horse-7'
const SITES = ['one.test', 'two.test']
const MINUTE_MS = 60_000
const REFUSED = { status: 400, json: { __type: 'NotAuthorizedException' } }

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: SITES, platform: { clock: { now } } })
  vi.stubGlobal(
    'fetch',
    fetchTo(() => stack),
  )
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stack[Symbol.asyncDispose]()
})

const attribute = (Name: string, Value: string) => new CognitoUserAttribute({ Name, Value })
const namesOf = async (user: CognitoUser) => {
  const list = await answered<CognitoUserAttribute[]>((done) => user.getUserAttributes(done))
  return Object.fromEntries(list.map((each) => [each.getName(), each.getValue()]))
}

let people = 0
describe.each(SITES)('programs written for Cognito at %s', (host) => {
  async function person() {
    const app = await CognitoApp.of(stack, host)
    const email = `t${++people}@visitors.test`
    const sub = await app.accountAtOnce(email, PASSWORD)
    const signIn = async () => {
      const { json } = await app.initiate('USER_PASSWORD_AUTH', { USERNAME: email, PASSWORD })
      return String(json.AuthenticationResult.AccessToken)
    }
    return { app, email, sub, signIn }
  }

  test('sign up with a name, and change it, without another sign-in', async () => {
    const app = await CognitoApp.of(stack, host)
    const email = `named${++people}@visitors.test`
    const named = { Name: 'name', Value: ' Ann   Lee ' }
    const signUp = { ClientId: app.clientId, Username: email, Password: PASSWORD }
    const bad = { Name: 'name', Value: 'x'.repeat(101) }
    expect(await app.raw('SignUp', { ...signUp, UserAttributes: [bad] })).toMatchObject({
      status: 400,
      json: { __type: 'InvalidParameterException' },
    })
    await app.ok('SignUp', { ...signUp, UserAttributes: [named] })
    const ConfirmationCode = codeIn(await mailTo(stack, email, 'verification'))
    await app.ok('ConfirmSignUp', { ClientId: app.clientId, Username: email, ConfirmationCode })
    const { user } = await app.signIn(email, PASSWORD, 'USER_PASSWORD_AUTH')
    expect(await namesOf(user)).toMatchObject({ name: 'Ann Lee', email })
    aheadMs += 20 * MINUTE_MS
    await answered((done) => user.updateAttributes([attribute('name', 'Bea')], done))
    expect(await namesOf(user)).toMatchObject({ name: 'Bea', email })
    await expect(
      answered((done) => user.updateAttributes([attribute('phone_number', '+1')], done)),
    ).rejects.toMatchObject({ code: 'InvalidParameterException' })
  })

  test('move to an address that its code has proven', async () => {
    const { app, email } = await person()
    const { user } = await app.signIn(email, PASSWORD, 'USER_PASSWORD_AUTH')
    const wanted = `new-${email}`
    await answered((done) => user.updateAttributes([attribute('email', wanted)], done))
    expect(await namesOf(user)).toMatchObject({ email })
    const code = codeIn(await mailTo(stack, wanted, 'verification'))
    const verify = (typed: string) =>
      new Promise((resolve, reject) => {
        user.verifyAttribute('email', typed, { onSuccess: resolve, onFailure: reject })
      })
    const wrong = code === '000000' ? '000001' : '000000'
    await expect(verify(wrong)).rejects.toMatchObject({ code: 'CodeMismatchException' })
    await verify(code)
    expect(await namesOf(user)).toMatchObject({ email: wanted, email_verified: 'true' })
    expect(linkIn(await mailTo(stack, email, 'address-changed'))).toContain('/undo?')
    await expect(verify(code)).rejects.toMatchObject({ code: 'CodeMismatchException' })
  })

  test('learn of no address whether it has an account', async () => {
    const { app, signIn } = await person()
    const other = await person()
    const answers = []
    for (const wanted of [other.email, `free${++people}@visitors.test`]) {
      const AccessToken = await signIn()
      const UserAttributes = [{ Name: 'email', Value: wanted }]
      const { status, json } = await app.raw('UpdateUserAttributes', {
        AccessToken,
        UserAttributes,
      })
      const verified = { AccessToken, AttributeName: 'email', Code: '000000' }
      const tried = await app.raw('VerifyUserAttribute', verified)
      answers.push([status, json.CodeDeliveryDetailsList[0].AttributeName, tried.json])
    }
    expect(answers[0]).toEqual(answers[1])
    await mailTo(stack, other.email, 'address-taken')
    expect(await allMailTo(stack, other.email, 'verification')).toEqual([])
  })

  test('delete the account, which its owner restores', async () => {
    const { app, email } = await person()
    const { user } = await app.signIn(email, PASSWORD, 'USER_PASSWORD_AUTH')
    await answered((done) => user.deleteUser(done))
    await mailTo(stack, email, 'account-deleting')
    const again = await app.initiate('USER_PASSWORD_AUTH', { USERNAME: email, PASSWORD })
    expect(again).toMatchObject(REFUSED)
  })

  test('move the account once for a sign-in, and within five minutes of it', async () => {
    const { app, email, sub, signIn } = await person()
    const moves = (AccessToken: string) =>
      [
        [
          'UpdateUserAttributes',
          { AccessToken, UserAttributes: [{ Name: 'email', Value: `x-${email}` }] },
        ],
        ['StartWebAuthnRegistration', { AccessToken }],
        ['AssociateSoftwareToken', { AccessToken }],
        ['DeleteUser', { AccessToken }],
      ] as const
    const first = await signIn()
    await app.ok(...moves(first)[0])
    for (const [each, used] of moves(first))
      expect(await app.raw(each, used)).toMatchObject(REFUSED)
    const old = await signIn()
    aheadMs += 6 * MINUTE_MS
    for (const [each, late] of moves(old)) expect(await app.raw(each, late)).toMatchObject(REFUSED)
    const { site, pool } = await RelyingParty.of(stack, host, 'data')
    const { email: kept } = await stack.context.selfService.get({ site, pool }, sub)
    expect(kept).toBe(email)
  })

  test('move no account by a token of the pages, which a script gets without a secret', async () => {
    const { app, sub, signIn } = await person()
    const AccessToken = await signIn()
    await asSuperuser(
      stack,
      (sql) => sql`update refresh_family set session_id = 'page' where sub = ${sub}`,
    )
    expect((await app.raw('GetUser', { AccessToken })).status).toBe(200)
    for (const target of ['DeleteUser', 'StartWebAuthnRegistration', 'AssociateSoftwareToken']) {
      expect(await app.raw(target, { AccessToken })).toMatchObject(REFUSED)
    }
  })
})
