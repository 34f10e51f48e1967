import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test']
const MINUTE_MS = 60_000

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('passkeys of programs written for Cognito %s', (_where, baseUrl) => {
  let stack: Stack
  const apps = new Map<string, CognitoApp>()
  beforeAll(async () => {
    stack = await startStack({
      sites: SITES,
      platform: { clock: { now } },
      ...(baseUrl && { config: { baseUrl } }),
    })
    for (const host of SITES) apps.set(host, await CognitoApp.of(stack, host))
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  let people = 0
  async function person(host: string) {
    const app = apps.get(host)
    if (!app) throw new Error(`There is no ${host}`)
    const email = `c${++people}@visitors.test`
    await app.accountAtOnce(email, PASSWORD)
    const { json } = await app.initiate('USER_PASSWORD_AUTH', { USERNAME: email, PASSWORD })
    const { AccessToken, IdToken } = json.AuthenticationResult as Record<string, string>
    return { app, email, AccessToken, IdToken }
  }
  const begun = async (app: CognitoApp, email: string) => {
    const { json } = await app.initiate('USER_AUTH', {
      USERNAME: email,
      PREFERRED_CHALLENGE: 'WEB_AUTHN',
    })
    return json as { Session: string; ChallengeParameters: Record<string, string> }
  }
  const answer = (
    app: CognitoApp,
    email: string,
    input: Readonly<Record<string, unknown>>,
    responses: Readonly<Record<string, string>> = { CREDENTIAL: assertion('x') },
  ) =>
    app.raw('RespondToAuthChallenge', {
      ClientId: app.clientId,
      ChallengeName: 'WEB_AUTHN',
      ChallengeResponses: { USERNAME: email, ...responses },
      ...input,
    })

  describe.each(SITES)('at %s', (host) => {
    const other = SITES.find((site) => site !== host) ?? host

    test('are requested in a way that does not reveal who has one', async () => {
      const { app, email } = await person(host)
      const [known, unknown] = [await begun(app, email), await begun(app, 'nobody@visitors.test')]
      for (const { ChallengeParameters } of [known, unknown]) {
        const options = JSON.parse(ChallengeParameters['CREDENTIAL_REQUEST_OPTIONS'] ?? '')
        expect(options).toEqual({
          challenge: expect.stringMatching(/^[\w-]{43}$/),
          rpId: host,
          userVerification: 'required',
          timeout: 300_000,
        })
      }
      const refused = await answer(app, 'nobody@visitors.test', { Session: unknown.Session })
      const wrong = await answer(app, email, { Session: known.Session })
      expect([refused.status, wrong.status]).toEqual([400, 400])
      expect(refused.json).toEqual(wrong.json)
      expect(wrong.json).toMatchObject({ __type: 'NotAuthorizedException' })
    })

    test.each([
      ['no session', async () => undefined],
      ['a session that is none', async () => 'x'.repeat(100)],
      [
        'a session of another site',
        async (email: string) => {
          const app = apps.get(other)
          return app && (await begun(app, email)).Session
        },
      ],
      [
        'a session that was changed',
        async (email: string) => {
          const app = apps.get(host)
          const { Session } = app ? await begun(app, email) : { Session: '' }
          return `${Session.slice(0, -2)}${Session.endsWith('AA') ? 'BB' : 'AA'}`
        },
      ],
      [
        'a session of four minutes ago',
        async (email: string) => {
          const app = apps.get(host)
          const { Session } = app ? await begun(app, email) : { Session: '' }
          aheadMs += 4 * MINUTE_MS
          return Session
        },
      ],
    ])('are not answered in %s', async (_what, sessionOf) => {
      const { app, email } = await person(host)
      const Session = await sessionOf(email)
      expect(await answer(app, email, { Session })).toMatchObject({
        status: 400,
        json: { __type: 'NotAuthorizedException', message: expect.stringContaining('session') },
      })
    })

    test.each([
      ['nothing', {}, 'InvalidParameterException'],
      ['no JSON', { CREDENTIAL: '{' }, 'NotAuthorizedException'],
      ['a list', { CREDENTIAL: '[]' }, 'NotAuthorizedException'],
      ['an unknown key', { CREDENTIAL: assertion('x') }, 'NotAuthorizedException'],
    ])('are not answered with %s', async (_what, responses, type) => {
      const { app, email } = await person(host)
      const { Session } = await begun(app, email)
      expect(await answer(app, email, { Session }, responses)).toMatchObject({
        status: 400,
        json: { __type: type },
      })
    })

    test('are made by users who have signed in here, and recently', async () => {
      const { app, email, AccessToken, IdToken } = await person(host)
      const stranger = await person(other)
      const started = await app.raw('StartWebAuthnRegistration', { AccessToken })
      expect(started.json.CredentialCreationOptions).toMatchObject({
        rp: { id: host, name: host },
        user: { name: email, displayName: email },
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        excludeCredentials: [],
      })
      const Credential = { ...JSON.parse(assertion('x')), id: 'x' }
      const tries = [
        ['StartWebAuthnRegistration', {}, 'InvalidParameterException'],
        ['StartWebAuthnRegistration', { AccessToken: IdToken }, 'NotAuthorizedException'],
        [
          'StartWebAuthnRegistration',
          { AccessToken: stranger.AccessToken },
          'NotAuthorizedException',
        ],
        [
          'CompleteWebAuthnRegistration',
          { AccessToken, Credential },
          'WebAuthnChallengeNotFoundException',
        ],
        [
          'CompleteWebAuthnRegistration',
          { AccessToken, Credential: {} },
          'WebAuthnChallengeNotFoundException',
        ],
        ['CompleteWebAuthnRegistration', { AccessToken }, 'InvalidParameterException'],
        ['ListWebAuthnCredentials', { AccessToken: 'a.b.c' }, 'NotAuthorizedException'],
        ['DeleteWebAuthnCredential', { AccessToken }, 'InvalidParameterException'],
      ] as const
      for (const [target, body, type] of tries) {
        const refused = await app.raw(target, body)
        expect([target, refused.status, refused.json.__type]).toEqual([target, 400, type])
      }
      aheadMs += 16 * MINUTE_MS
      expect(await app.raw('StartWebAuthnRegistration', { AccessToken })).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining('sign in again') },
      })
      expect(await app.raw('ListWebAuthnCredentials', { AccessToken })).toMatchObject({
        status: 200,
        json: { Credentials: [] },
      })
    })

    test('are one choice among those of the flow, and no way around a second step', async () => {
      const { app, email } = await person(host)
      const chosen = (ANSWER: string, more: object, Session: unknown) =>
        app.raw('RespondToAuthChallenge', {
          ClientId: app.clientId,
          ChallengeName: 'SELECT_CHALLENGE',
          ChallengeResponses: { USERNAME: email, ANSWER, ...more },
          Session,
        })
      const { json } = await app.initiate('USER_AUTH', { USERNAME: email })
      expect(json).toMatchObject({ ChallengeName: 'SELECT_CHALLENGE' })
      const { Session } = json
      expect((await chosen('EMAIL_OTP', {}, Session)).json).toMatchObject({
        ChallengeName: 'SELECT_CHALLENGE',
      })
      expect((await chosen('WEB_AUTHN', {}, Session)).json).toMatchObject({
        ChallengeName: 'WEB_AUTHN',
      })
      const body = { data: { requireSecondFactor: true } }
      await stack.portal('PATCH', `/sites/${host}/auth`, body)
      expect((await chosen('PASSWORD', { PASSWORD }, Session)).json).toMatchObject({
        ChallengeName: 'MFA_SETUP',
      })
      await stack.portal('PATCH', `/sites/${host}/auth`, { data: { requireSecondFactor: false } })
      expect((await chosen('PASSWORD', { PASSWORD }, Session)).json).toMatchObject({
        AuthenticationResult: { TokenType: 'Bearer' },
      })
      expect(await chosen('PASSWORD', { PASSWORD: 'Wrong-horse-7' }, Session)).toMatchObject({
        status: 400,
        json: { __type: 'NotAuthorizedException' },
      })
    })
  })
})

/** As a browser sends what a device has signed. */
function assertion(challenge: string): string {
  const data = { type: 'webauthn.get', challenge, origin: 'https://one.test' }
  const text = (value: string) => Buffer.from(value).toString('base64url')
  return JSON.stringify({
    id: 'AAAAAAAAAAAAAAAAAAAAAA',
    rawId: 'AAAAAAAAAAAAAAAAAAAAAA',
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: text(JSON.stringify(data)),
      authenticatorData: text('x'.repeat(37)),
      signature: text('signature'),
      userHandle: null,
    },
  })
}
