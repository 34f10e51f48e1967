import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { mailTo } from '#test/outbox.ts'
import { SoftDevice } from '#test/soft-device.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test']
const MINUTE_MS = 60_000
const NOT_AUTHORIZED = { status: 400, json: { __type: 'NotAuthorizedException' } }

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('a passkey in a program written for Cognito %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({
      sites: SITES,
      platform: { clock: { now } },
      ...(baseUrl && { config: { baseUrl } }),
    })
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  let people = 0
  async function person(host: string) {
    const app = await CognitoApp.of(stack, host)
    const email = `d${++people}@visitors.test`
    const sub = await app.accountAtOnce(email, PASSWORD)
    const byPassword = async (): Promise<string> => {
      const { json } = await app.initiate('USER_PASSWORD_AUTH', { USERNAME: email, PASSWORD })
      return json.AuthenticationResult.AccessToken
    }
    const place = { origin: new URL(app.issuer).origin, rpId: host }
    return { app, email, sub, byPassword, place }
  }
  type Person = Awaited<ReturnType<typeof person>>

  async function creation({ app, place }: Person, AccessToken: string, device: SoftDevice) {
    const { json } = await app.ok('StartWebAuthnRegistration', { AccessToken })
    const { challenge } = json.CredentialCreationOptions
    const Credential: unknown = JSON.parse(device.create({ ...place, challenge }))
    return { AccessToken, Credential }
  }

  /** With a passkey of its own. */
  async function holder(host: string) {
    const someone = await person(host)
    const device = new SoftDevice()
    const AccessToken = await someone.byPassword()
    await someone.app.ok(
      'CompleteWebAuthnRegistration',
      await creation(someone, AccessToken, device),
    )
    await mailTo(stack, someone.email, 'passkey-added')
    return { ...someone, device }
  }
  type Holder = Awaited<ReturnType<typeof holder>>

  async function begun({ app, email }: Person) {
    const parameters = { USERNAME: email, PREFERRED_CHALLENGE: 'WEB_AUTHN' }
    const { json } = await app.initiate('USER_AUTH', parameters)
    const options = JSON.parse(json.ChallengeParameters.CREDENTIAL_REQUEST_OPTIONS)
    return { Session: String(json.Session), challenge: String(options.challenge) }
  }

  const response = (
    { app, email, device, place, sub }: Holder,
    { Session, challenge }: Awaited<ReturnType<typeof begun>>,
  ) => ({
    ClientId: app.clientId,
    ChallengeName: 'WEB_AUTHN',
    ChallengeResponses: { USERNAME: email, CREDENTIAL: device.get({ ...place, challenge }, sub) },
    Session,
  })

  async function byPasskey(someone: Holder): Promise<string> {
    const answer = await someone.app.ok(
      'RespondToAuthChallenge',
      response(someone, await begun(someone)),
    )
    return answer.json.AuthenticationResult.AccessToken
  }

  describe.each(SITES)('at %s', (host) => {
    const other = SITES.find((site) => site !== host) ?? ''

    test('proves its owner to each call that moves the account, once for a sign-in', async () => {
      const someone = await holder(host)
      const { app, email } = someone
      const UserAttributes = [{ Name: 'email', Value: `to-${email}` }]
      const second = new SoftDevice()
      const AccessToken = await byPasskey(someone)
      await app.ok('UpdateUserAttributes', { AccessToken, UserAttributes })
      expect(await app.raw('UpdateUserAttributes', { AccessToken, UserAttributes })).toMatchObject(
        NOT_AUTHORIZED,
      )
      const completion = await creation(someone, await byPasskey(someone), second)
      await app.ok('CompleteWebAuthnRegistration', completion)
      expect(await app.raw('CompleteWebAuthnRegistration', completion)).toMatchObject({
        status: 400,
      })
      await app.ok('AssociateSoftwareToken', { AccessToken: await byPasskey(someone) })
      await app.ok('DeleteUser', { AccessToken: await byPasskey(someone) })
      await mailTo(stack, email, 'account-deleting')
      const late = response(someone, await begun(someone))
      expect(await app.raw('RespondToAuthChallenge', late)).toMatchObject(NOT_AUTHORIZED)
    })

    test.each([
      ['of another account', async () => begun(await holder(host))],
      ['of another site', async () => begun(await holder(other))],
      [
        'of another session',
        async (someone: Holder) => {
          const [first, second] = [await begun(someone), await begun(someone)]
          return { Session: first.Session, challenge: second.challenge }
        },
      ],
      [
        'for a new key',
        async (someone: Holder) => {
          const AccessToken = await someone.byPassword()
          const { json } = await someone.app.ok('StartWebAuthnRegistration', { AccessToken })
          const { challenge } = json.CredentialCreationOptions
          return { Session: (await begun(someone)).Session, challenge }
        },
      ],
      [
        'that was answered',
        async (someone: Holder) => {
          const asked = await begun(someone)
          await someone.app.ok('RespondToAuthChallenge', response(someone, asked))
          return asked
        },
      ],
      [
        'that was answered wrongly',
        async (someone: Holder) => {
          const asked = await begun(someone)
          const wrong = { ...someone, device: new SoftDevice() }
          const refused = await someone.app.raw('RespondToAuthChallenge', response(wrong, asked))
          expect(refused).toMatchObject(NOT_AUTHORIZED)
          return asked
        },
      ],
      [
        'of six minutes ago',
        async (someone: Holder) => {
          const asked = await begun(someone)
          aheadMs += 6 * MINUTE_MS
          return asked
        },
      ],
    ])('refuses a challenge %s', async (_what, askedOf) => {
      const someone = await holder(host)
      const asked = await askedOf(someone)
      const refused = await someone.app.raw('RespondToAuthChallenge', response(someone, asked))
      expect(refused).toMatchObject(NOT_AUTHORIZED)
      expect(refused.json.AuthenticationResult).toBeUndefined()
      expect(await byPasskey(someone)).toMatch(/^ey/)
    })

    test.each([
      [
        'of another account',
        async (_someone: Person, device: SoftDevice) => {
          const stranger = await person(host)
          return creation(stranger, await stranger.byPassword(), device)
        },
      ],
      [
        'of another sign-in',
        async (someone: Person, device: SoftDevice) =>
          creation(someone, await someone.byPassword(), device),
      ],
      [
        'for a sign-in',
        async (someone: Person, device: SoftDevice) => {
          const { challenge } = await begun(someone)
          const Credential: unknown = JSON.parse(device.create({ ...someone.place, challenge }))
          return { Credential }
        },
      ],
      [
        'of seven minutes ago',
        async (someone: Person, device: SoftDevice, AccessToken: string) => {
          const made = await creation(someone, AccessToken, device)
          aheadMs += 7 * MINUTE_MS
          return made
        },
      ],
    ])('is not added over a challenge %s', async (_what, madeFor) => {
      const someone = await person(host)
      const { app } = someone
      const AccessToken = await someone.byPassword()
      const { Credential } = await madeFor(someone, new SoftDevice(), AccessToken)
      const refused = await app.raw('CompleteWebAuthnRegistration', { AccessToken, Credential })
      expect(refused).toMatchObject({
        status: 400,
        json: { __type: 'WebAuthnChallengeNotFoundException' },
      })
      const { json } = await app.ok('ListWebAuthnCredentials', { AccessToken })
      expect(json.Credentials).toEqual([])
    })
  })
})
