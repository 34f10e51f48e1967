import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { CognitoApp, answered, called, fetchTo } from '#test/cognito-app.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const SITES = ['one.test', 'two.test']
/** Its visitors sign in on a name of its own from the start. */
const OWN = 'own.test'
/** There they sign in on another name once the program is in use. */
const MOVING = 'moving.test'
/** A pool of each kind, each at another site, which see all that the library does; the others see that it signs in. */
const isWhole = (host: string, kind: PoolKind) =>
  host === OWN ? kind === 'data' : (host === 'one.test') === (kind === 'data')

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [...SITES, MOVING] })
  const own = { domain: OWN, authDomain: `auth.${OWN}`, superAdmins: [`ann@${OWN}`] }
  await stack.portal('POST', '/sites', own)
  vi.stubGlobal(
    'fetch',
    fetchTo(() => stack),
  )
  for (const host of [...SITES, OWN, MOVING]) {
    const site = await RuntimeSite.open(stack, host)
    await site.putOperation('whoami', {
      lambdaResourceId: await site.putFunction(
        'whoami',
        'export default (input) => ({ sub: input.auth.sub, username: input.auth.username })',
      ),
      auth: { mode: 'authenticated' },
    })
    await site.synced()
  }
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stack[Symbol.asyncDispose]()
})

const refused = (code: string, message?: string) =>
  expect.objectContaining({ code, ...(message !== undefined && { message }) })

/** Makes an account the way that the pool has. */
async function accountOf(app: CognitoApp, name: string): Promise<string> {
  if (app.kind === 'admin') return app.superAdmin(PASSWORD)
  await app.account(`${name}@mail.${app.host}`, PASSWORD)
  return `${name}@mail.${app.host}`
}

describe.each([...SITES, OWN])('amazon-cognito-identity-js on %s', (host) => {
  test('signs a visitor up with a mailed code', async () => {
    const app = await CognitoApp.of(stack, host)
    const email = `zoe@mail.${host}`
    const { userConfirmed, userSub, codeDeliveryDetails } = await app.signUp(email, PASSWORD)
    expect({ userConfirmed, userSub, codeDeliveryDetails }).toEqual({
      userConfirmed: false,
      userSub: expect.stringMatching(/^[0-9a-f-]{36}$/),
      codeDeliveryDetails: {
        AttributeName: 'email',
        DeliveryMedium: 'EMAIL',
        Destination: 'z***@m***',
      },
    })
    await expect(app.signIn(email, PASSWORD, 'USER_PASSWORD_AUTH')).rejects.toEqual(
      refused('UserNotConfirmedException', 'User is not confirmed.'),
    )
    // An exchange by SRP is about one password: were it the sign-up's, a stranger's would take the account's place.
    await expect(app.signIn(email, PASSWORD, 'USER_SRP_AUTH')).rejects.toEqual(
      refused('NotAuthorizedException', 'Incorrect username or password.'),
    )
    const first = await mailTo(stack, email, 'verification')
    const user = app.user(email)
    await answered((done) => user.resendConfirmationCode(done))
    const second = await mailTo(stack, email, 'verification', first)
    const confirm = (code: string) =>
      answered((done) => user.confirmRegistration(code, false, done))
    await expect(confirm(codeIn(first) === codeIn(second) ? '' : codeIn(first))).rejects.toEqual(
      refused('CodeMismatchException'),
    )
    expect(await confirm(codeIn(second))).toBe('SUCCESS')

    const { session } = await app.signIn(email, PASSWORD)
    expect(session.getIdToken().payload).toMatchObject({
      sub: userSub,
      email,
      email_verified: true,
      token_use: 'id',
      iss: app.issuer,
      aud: app.clientId,
    })
  })

  test('takes no strangers into the admin pool', async () => {
    const app = await CognitoApp.of(stack, host, 'admin')
    await expect(app.signUp('mallory@example.test', PASSWORD)).rejects.toEqual(
      refused('NotAuthorizedException', 'SignUp is not permitted for this user pool'),
    )
  })

  describe.each<PoolKind>(['data', 'admin'])('in the %s pool', (kind) => {
    let app: CognitoApp
    let email: string
    let password = PASSWORD
    beforeAll(async () => {
      app = await CognitoApp.of(stack, host, kind)
      email = await accountOf(app, 'life')
    })

    const reach = (where: string, token: string) =>
      kind === 'admin'
        ? stack.call(where, 'GET', '/admin/api/profile', { token })
        : stack.call(where, 'POST', '/data/whoami', { token, body: { payload: {} } })

    test('gets an access token that the site’s own API takes, and no other site’s', async () => {
      const { session } = await app.signIn(email, password)
      const token = session.getAccessToken().getJwtToken()
      const answer = await reach(host, token)
      expect(answer.status).toBe(200)
      expect(answer.json).toMatchObject(
        kind === 'admin' ? { primaryEmail: email } : { ok: true, data: { username: email } },
      )
      expect((await reach(SITES.find((each) => each !== host) ?? '', token)).status).toBe(401)
    })

    test.each(['USER_SRP_AUTH', 'USER_PASSWORD_AUTH'] as const)('signs in by %s', async (flow) => {
      const { session } = await app.signIn(` ${email.toUpperCase()} `, password, flow)
      expect(session.isValid()).toBe(true)
      expect(session.getAccessToken().payload).toMatchObject({
        iss: app.issuer,
        client_id: app.clientId,
        token_use: 'access',
        username: email,
        scope: 'aws.cognito.signin.user.admin',
        origin_jti: expect.any(String),
      })
    })

    if (!isWhole(host, kind)) return

    test('refuses a wrong password in the same words as an unknown user', async () => {
      for (const flow of ['USER_SRP_AUTH', 'USER_PASSWORD_AUTH'] as const) {
        for (const who of [email, 'nobody@example.test']) {
          await expect(app.signIn(who, 'Wrong-horse-7', flow)).rejects.toEqual(
            refused('NotAuthorizedException', 'Incorrect username or password.'),
          )
        }
      }
      await app.signIn(email, password)
    })

    test('finds its user again after a restart, and reads the account', async () => {
      await app.signIn(email.toUpperCase(), password)
      const user = app.currentUser()
      expect(user?.getUsername()).toBe(email)
      const session = await answered((done) => user?.getSession(done))
      expect(session).toBeDefined()
      const data = await answered((done) => user?.getUserData(done))
      expect(data).toEqual({
        Username: email,
        UserAttributes: [
          { Name: 'email', Value: email },
          { Name: 'email_verified', Value: 'true' },
          { Name: 'sub', Value: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        ],
      })
      const attributes = await answered<unknown[]>((done) => user?.getUserAttributes(done))
      expect(attributes).toHaveLength(3)
    })

    test('refreshes again and again, and keeps the newest refresh token', async () => {
      const { user, session } = await app.signIn(email, password)
      const seen = new Set([session.getRefreshToken().getToken()])
      for (let round = 0; round < 3; round += 1) {
        const current = user.getSignInUserSession() ?? session
        await answered((done) => user.refreshSession(current.getRefreshToken(), done))
        const token = user.getSignInUserSession()?.getRefreshToken().getToken() ?? ''
        expect(seen.has(token)).toBe(false)
        seen.add(token)
        expect([...app.stored.values()]).toContain(token)
      }
      expect(user.getSignInUserSession()?.getAccessToken().payload['origin_jti']).toBe(
        session.getAccessToken().payload['origin_jti'],
      )
    })

    test('signs out by revoking, after which nothing of the sign-in is good', async () => {
      app.stored.clear()
      const { user, session } = await app.signIn(email, password)
      await new Promise<void>((resolve) => user.signOut(resolve))
      const AccessToken = session.getAccessToken().getJwtToken()
      expect((await app.raw('GetUser', { AccessToken })).json).toEqual({
        __type: 'NotAuthorizedException',
        message: 'Access Token has been revoked',
      })
      const REFRESH_TOKEN = session.getRefreshToken().getToken()
      expect((await app.initiate('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN })).json).toEqual({
        __type: 'NotAuthorizedException',
        message: 'Invalid Refresh Token',
      })
      expect([...app.stored.keys()].filter((key) => key.endsWith('Token'))).toEqual([])
    })

    test('changes the password: this sign-in goes on, others end', async () => {
      const other = await app.signIn(email, password)
      const { user, session } = await app.signIn(email, password, 'USER_PASSWORD_AUTH')
      const next = `${password}x`
      const change = (from: string, to: string) =>
        answered((done) => user.changePassword(from, to, done))
      await expect(change('Wrong-horse-7', next)).rejects.toEqual(refused('NotAuthorizedException'))
      await expect(change(password, 'short')).rejects.toEqual(refused('InvalidPasswordException'))
      expect(await change(password, next)).toBe('SUCCESS')
      const former = password
      password = next
      await expect(app.signIn(email, former)).rejects.toEqual(refused('NotAuthorizedException'))
      await app.signIn(email, password)
      const [here, there] = [session, other.session].map((each) =>
        app.raw('GetUser', { AccessToken: each.getAccessToken().getJwtToken() }),
      )
      expect((await here)?.status).toBe(200)
      expect((await there)?.json).toMatchObject({ __type: 'NotAuthorizedException' })
    })

    test('recovers a forgotten password with a mailed code, and every sign-in ends', async () => {
      const { session } = await app.signIn(email, password)
      const user = app.user(email)
      const delivery = await called((callbacks) => user.forgotPassword(callbacks))
      expect(delivery).toMatchObject({ CodeDeliveryDetails: { DeliveryMedium: 'EMAIL' } })
      const code = codeIn(await mailTo(stack, email, 'reset'))
      const next = `${password}y`
      const confirm = (given: string, chosen: string) =>
        called((callbacks) => user.confirmPassword(given, chosen, callbacks))
      await expect(confirm(code, 'short')).rejects.toEqual(refused('InvalidPasswordException'))
      const wrong = code === '000000' ? '000001' : '000000'
      await expect(confirm(wrong, next)).rejects.toEqual(refused('CodeMismatchException'))
      expect(await confirm(code, next)).toBe('SUCCESS')
      password = next
      await expect(confirm(code, `${next}z`)).rejects.toEqual(refused('CodeMismatchException'))
      await app.signIn(email, password)
      const AccessToken = session.getAccessToken().getJwtToken()
      expect((await app.raw('GetUser', { AccessToken })).json).toMatchObject({
        message: 'Access Token has been revoked',
      })
    })

    test('signs out everywhere', async () => {
      const other = await app.signIn(email, password)
      const { user } = await app.signIn(email, password)
      expect(await called((callbacks) => user.globalSignOut(callbacks))).toBe('SUCCESS')
      const AccessToken = other.session.getAccessToken().getJwtToken()
      expect((await app.raw('GetUser', { AccessToken })).json).toMatchObject({
        message: 'Access Token has been revoked',
      })
      const { session } = await app.signIn(email, password)
      expect(session.isValid()).toBe(true)
    })
  })
})

test('amazon-cognito-identity-js goes on at the endpoint that it knows when the sign-in moves', async () => {
  const app = await CognitoApp.of(stack, MOVING)
  const email = `mia@mail.${MOVING}`
  await app.account(email, PASSWORD)
  const { user, session } = await app.signIn(email, PASSWORD)
  const whoami = async () => {
    const current = user.getSignInUserSession() ?? session
    expect(current.getAccessToken().payload['iss']).toBe(app.issuer)
    const token = current.getAccessToken().getJwtToken()
    const answer = await stack.call(MOVING, 'POST', '/data/whoami', {
      token,
      body: { payload: {} },
    })
    expect(answer).toMatchObject({ status: 200, json: { data: { username: email } } })
  }
  const authDomain = `auth.${MOVING}`
  const moved = await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain })
  expect(moved.json).toMatchObject({ authDomain, formerAuthDomains: [MOVING] })

  await whoami()
  for (let round = 0; round < 2; round += 1) {
    const current = user.getSignInUserSession() ?? session
    await answered((done) => user.refreshSession(current.getRefreshToken(), done))
    await whoami()
  }
  expect(await answered<unknown[]>((done) => user.getUserAttributes(done))).toHaveLength(3)
  for (const flow of ['USER_SRP_AUTH', 'USER_PASSWORD_AUTH'] as const) {
    const again = await app.signIn(email, PASSWORD, flow)
    expect(again.session.getIdToken().payload).toMatchObject({ iss: app.issuer, email })
  }

  // The current version of a program takes over what the earlier one holds.
  const now = await CognitoApp.of(stack, MOVING)
  expect(new URL(now.issuer).hostname).toBe(authDomain)
  const REFRESH_TOKEN = user.getSignInUserSession()?.getRefreshToken().getToken() ?? ''
  const taken = await now.initiate('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN })
  const { IdToken, AccessToken } = taken.json.AuthenticationResult
  expect(decodeJwt(IdToken).iss).toBe(now.issuer)
  expect((await app.raw('GetUser', { AccessToken })).status).toBe(200)
  expect((await now.raw('GlobalSignOut', { AccessToken })).status).toBe(200)
  expect((await app.raw('GetUser', { AccessToken })).json).toMatchObject({
    message: 'Access Token has been revoked',
  })
})
