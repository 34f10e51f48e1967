import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { FORM, Owner, PASSWORD, csrfOf } from '#test/account-owner.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { SrpClient } from '#test/srp-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']

/** The service's clock is ahead of ours by so much: a code is right once, so each test moves on by a step. */
let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

/** The code of an app, in a step that none was taken of. */
function nextCode(secret: string): string {
  aheadMs += 30_000
  return codeAt(secret)
}
const codeAt = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now().getTime() })
const wrongCode = (secret: string): string =>
  [codeAt(secret)].map((code) =>
    String((Number(code) + 500_000) % 1_000_000).padStart(6, '0'),
  )[0] ?? ''

const secretIn = ({ text }: Answer): string =>
  /class="key">([A-Z2-7 ]+)</.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
const codesIn = ({ text }: Answer): string[] =>
  [...text.matchAll(/<li>([a-z2-9]{5}-[a-z2-9]{5})<\/li>/g)].map(([, code]) => code ?? '')

/** Sets up an app on the account's page. */
async function setUp(owner: Owner): Promise<{ secret: string; codes: string[] }> {
  await owner.signIn(-aheadMs)
  const page = await owner.open('/totp')
  const secret = secretIn(page)
  const code = nextCode(secret)
  const done = await owner.browser.submit(page, { code, currentPassword: PASSWORD })
  expect(done.status, textOf(done.text)).toBe(200)
  return { secret, codes: codesIn(done) }
}

/** A new browser, after the password. */
async function afterPassword(owner: Owner, password = PASSWORD) {
  const { party } = owner
  const browser = new FormBrowser(party.stack, party.host)
  const login = await browser.get(party.page('login'))
  const sent = await browser.submit(login, { username: owner.email, password })
  const location = sent.headers['location'] ?? ''
  return { browser, location, page: await browser.get(location) }
}

const isSignedIn = ({ headers }: Answer): boolean =>
  headers['location']?.includes('/auth/callback?code=') === true ||
  headers['location']?.includes('/admin/callback?code=') === true

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('a second factor %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({
      sites: SITES,
      platform: { clock: { now } },
      ...(baseUrl && { config: { baseUrl } }),
    })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const settings = async (host: string, kind: PoolKind, requireSecondFactor: boolean) => {
    const body = { [kind]: { requireSecondFactor } }
    expect((await stack.portal('PATCH', `/sites/${host}/auth`, body)).status).toBe(200)
  }
  const lastEvent = async (host: string, event: string) =>
    (await stack.portal('GET', `/sites/${host}/audit?event=${event}&limit=1`)).json.items[0]

  describe.each(SITES)('at %s', (host) => {
    test.each(['data', 'admin'] as const)(
      'is set up on the account’s page, asked for after the password, and taken off, at the %s pool',
      async (kind) => {
        const owner = await Owner.of(stack, host, kind)
        const { secret, codes } = await setUp(owner)
        expect(codes).toHaveLength(10)
        await mailTo(stack, owner.email, 'second-factor-on')
        expect(textOf((await owner.open()).text)).toContain('Recovery codes 10 left')

        const { browser, location, page } = await afterPassword(owner)
        expect(location).toContain('/mfa?')
        expect(textOf(page.text)).toContain('Enter the code of your app')
        const wrong = await browser.submit(page, { code: wrongCode(secret) })
        expect(wrong.status).toBe(400)
        expect(textOf(wrong.text)).toContain('The code is wrong, or was used already.')
        const empty = await browser.submit(page, { code: ' ' })
        expect(empty.status).toBe(400)
        const right = nextCode(secret)
        expect(
          isSignedIn(
            await browser.submit(page, { code: `${right.slice(0, 3)} ${right.slice(3)}` }),
          ),
        ).toBe(true)
        expect(await lastEvent(host, 'sign-in.succeeded')).toMatchObject({
          sub: owner.sub,
          detail: { method: 'password', secondFactor: 'totp' },
        })
        const again = await afterPassword(owner)
        expect((await again.browser.submit(again.page, { code: right })).status).toBe(400)

        await owner.signIn(-aheadMs)
        const off = await owner.send('/totp/remove', {})
        expect(textOf(off.text)).toContain('Your authenticator app is taken off.')
        await mailTo(stack, owner.email, 'second-factor-off')
        expect((await afterPassword(owner)).location).toContain('code=')
      },
    )

    test('takes each recovery code once, and none of those before', async () => {
      const owner = await Owner.of(stack, host)
      const { codes } = await setUp(owner)
      const [code = '', other = ''] = codes
      const one = await afterPassword(owner)
      const link =
        /href="([^"]*recovery=1)"/.exec(one.page.text)?.[1]?.replaceAll('&#38;', '&') ?? ''
      const form = await one.browser.get(link)
      expect(textOf(form.text)).toContain('Enter a recovery code')
      const typed = code.toUpperCase().replace('-', ' ')
      expect(isSignedIn(await one.browser.submit(form, { code: typed }))).toBe(true)
      expect(await lastEvent(host, 'recovery-code.used')).toMatchObject({ sub: owner.sub })
      const two = await afterPassword(owner)
      const refused = await two.browser.submit(two.page, { code })
      expect(refused.status).toBe(400)
      await owner.signIn(-aheadMs)
      expect(textOf((await owner.open()).text)).toContain('Recovery codes 9 left')
      const renewed = await owner.send('/recovery-codes', {})
      const [fresh = ''] = codesIn(renewed)
      expect((await two.browser.submit(two.page, { code: other })).status).toBe(400)
      expect(isSignedIn(await two.browser.submit(two.page, { code: fresh }))).toBe(true)
    })

    test('is set up on the way in where the pool asks for it', async () => {
      const owner = await Owner.of(stack, host)
      await settings(host, 'data', true)
      try {
        const { browser, location, page } = await afterPassword(owner)
        expect(location).toContain('/mfaSetup?')
        const secret = secretIn(page)
        const wrong = await browser.submit(page, { code: wrongCode(secret) })
        expect(wrong.status).toBe(400)
        expect(secretIn(wrong)).toBe(secret)
        const done = await browser.submit(wrong, { code: nextCode(secret) })
        expect(codesIn(done)).toHaveLength(10)
        const next = /class="button" href="([^"]*)"/.exec(done.text)?.[1]
        expect(next).toContain('/auth/callback?code=')
        await owner.signIn(-aheadMs)
        const kept = await owner.send('/totp/remove', {})
        expect(kept.status).toBe(409)
        const again = await afterPassword(owner)
        expect(again.location).toContain('/mfa?')
      } finally {
        await settings(host, 'data', false)
      }
    })

    test('is taken off by admins and operators, for a user who has lost everything', async () => {
      const owner = await Owner.of(stack, host)
      await setUp(owner)
      const admin = await stack.adminToken(host, 'admin')
      const path = `/admin/data/users/${owner.sub}`
      expect((await stack.call(host, 'GET', path, { token: admin })).json.secondFactor).toBe(true)
      const answer = await stack.call(host, 'DELETE', `${path}/second-factor`, { token: admin })
      expect(answer.status, answer.text).toBe(204)
      expect((await afterPassword(owner)).location).toContain('code=')
      expect(await lastEvent(host, 'second-factor.disabled')).toMatchObject({
        sub: owner.sub,
        actor: expect.any(String),
      })
      await setUp(owner)
      const query = new URLSearchParams({ user: owner.email }).toString()
      const operator = await stack.portal('DELETE', `/sites/${host}/second-factor?${query}`)
      expect(operator.status).toBe(204)
      for (const route of [
        'DELETE /admin/data/users/:sub/second-factor',
        'DELETE /portal/api/sites/:siteId/second-factor',
      ]) {
        expect(stack.app.recorded.has(`${route} second-factor.disabled`), route).toBe(true)
      }
      expect((await afterPassword(owner)).location).toContain('code=')
    })

    test('is taken off a disabled account, and may be where there is none', async () => {
      const owner = await Owner.of(stack, host)
      await setUp(owner)
      const admin = await stack.adminToken(host)
      const path = `/admin/data/users/${owner.sub}`
      await stack.call(host, 'POST', `${path}/disable`, { token: admin })
      const remove = (user: string, pool: PoolKind) =>
        stack.portal(
          'DELETE',
          `/sites/${host}/second-factor?${new URLSearchParams({ user, pool }).toString()}`,
        )
      expect((await remove(owner.email, 'data')).status).toBe(204)
      const { json } = await stack.call(host, 'GET', path, { token: admin })
      expect(json).toMatchObject({ status: 'DISABLED', secondFactor: false })
      expect(await lastEvent(host, 'second-factor.disabled')).toMatchObject({ sub: owner.sub })
      const user = `invited@${host}`
      const invite = { token: admin, body: { email: user, role: 'user' } }
      expect((await stack.call(host, 'POST', '/admin/api/users', invite)).status).toBe(200)
      expect((await remove(user, 'admin')).status).toBe(204)
      expect((await remove(`nowhere@${host}`, 'admin')).status).toBe(404)
    })

    test('is taken off an admin by those who may, with a recent sign-in', async () => {
      const ann = await Owner.of(stack, host, 'admin')
      await setUp(ann)
      const path = `/admin/api/users/${ann.sub}/second-factor`
      const admin = await stack.adminToken(host, 'admin')
      expect((await stack.call(host, 'DELETE', path, { token: admin })).status).toBe(403)
      const old = await stack.adminToken(host)
      aheadMs += 16 * 60_000
      expect(await stack.call(host, 'DELETE', path, { token: old })).toMatchObject({
        status: 403,
        json: { error: { code: 'RecentSignInRequired' } },
      })
      const role = { token: old, body: { role: 'admin' } }
      expect(await stack.call(host, 'PATCH', `/admin/api/users/${ann.sub}`, role)).toMatchObject({
        status: 403,
        json: { error: { code: 'RecentSignInRequired' } },
      })
      const fresh = await stack.adminToken(host)
      expect((await stack.call(host, 'DELETE', path, { token: fresh })).status).toBe(204)
    })

    test('takes ten wrong codes an hour, from wherever they come, and tells the owner', async () => {
      const owner = await Owner.of(stack, host)
      const { secret } = await setUp(owner)
      const { site, pool } = owner.party
      const verify = (code: string, network: number) =>
        stack.context.secondFactors.verify(
          {
            site,
            pool,
            origin: { address: `198.51.${network}.7`, userAgent: 'x', requestId: 'x' },
          },
          { sub: owner.sub, code },
        )
      for (let network = 0; network < 10; network++) {
        await expect(verify(wrongCode(secret), network)).rejects.toMatchObject({
          code: 'InvalidVerificationCode',
        })
      }
      await expect(verify(nextCode(secret), 11)).rejects.toMatchObject({ code: 'TooManyRequests' })
      await mailTo(stack, owner.email, 'second-factor-guessed')
      aheadMs += 61 * 60_000
      await expect(verify(nextCode(secret), 12)).resolves.toBe('totp')
      expect(await allMailTo(stack, owner.email, 'second-factor-guessed')).toHaveLength(1)
    })

    test.each([
      ['no password before it', async (owner: Owner) => owner.party.page('mfa')],
      ['no password before its setup', async (owner: Owner) => owner.party.page('mfaSetup')],
      [
        'the flow of another browser',
        async (owner: Owner) => (await afterPassword(owner)).location,
      ],
      [
        'a password of ten minutes ago',
        async (owner: Owner) => {
          const { location } = await afterPassword(owner)
          aheadMs += 10 * 60_000 + 1000
          return location
        },
      ],
    ])('leads back to the sign-in with %s', async (_what, pathOf) => {
      const owner = await Owner.of(stack, host)
      const { secret } = await setUp(owner)
      const path = await pathOf(owner)
      const browser = new FormBrowser(stack, host)
      const shown = await browser.get(path)
      expect(shown.headers['location']).toContain('/login?')
      const login = await browser.get(shown.headers['location'] ?? '')
      const body = new URLSearchParams({ _csrf: csrfOf(login), code: nextCode(secret) }).toString()
      const sent = await browser.post(path, body, FORM)
      expect(sent.headers['location']).toContain('/login?')
    })

    test('is not asked for without need: a password that was changed since is refused', async () => {
      const owner = await Owner.of(stack, host)
      const { secret } = await setUp(owner)
      const waiting = await afterPassword(owner)
      const { site, pool } = owner.party
      aheadMs += 1000
      await stack.context.userSessions.endAll(site, { pool, sub: owner.sub }, SYSTEM)
      const answer = await waiting.browser.submit(waiting.page, { code: nextCode(secret) })
      expect(answer.status).toBe(400)
      expect(isSignedIn(answer)).toBe(false)
    })

    test('is no second app, and none that another account or browser was shown', async () => {
      const owner = await Owner.of(stack, host)
      const other = await Owner.of(stack, host)
      await owner.signIn(-aheadMs)
      await other.signIn(-aheadMs)
      const page = await owner.open('/totp')
      const theirs = await other.open('/totp')
      const setup = /name="setup" value="([^"]*)"/.exec(theirs.text)?.[1] ?? ''
      const planted = await owner.browser.submit(page, {
        setup,
        code: nextCode(secretIn(theirs)),
        currentPassword: PASSWORD,
      })
      expect(textOf(planted.text)).toContain('This page was open for too long')
      await setUp(owner)
      const second = await owner.browser.submit(page, {
        code: nextCode(secretIn(page)),
        currentPassword: PASSWORD,
      })
      expect(second.status).toBe(409)
    })
  })

  test('is Cognito’s SOFTWARE_TOKEN_MFA over the API, whether with the password or SRP', async () => {
    const host = 'one.test'
    const app = await CognitoApp.of(stack, host)
    const owner = await Owner.of(stack, host)
    const ClientId = app.clientId
    const byPassword = () =>
      app.raw('InitiateAuth', {
        ClientId,
        AuthFlow: 'USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: owner.email, PASSWORD },
      })
    const respond = (ChallengeName: string, Session: string, ChallengeResponses: object) =>
      app.raw('RespondToAuthChallenge', {
        ClientId,
        ChallengeName,
        Session,
        ChallengeResponses: { USERNAME: owner.email, ...ChallengeResponses },
      })
    const { AccessToken } = (await byPassword()).json.AuthenticationResult
    const associated = await app.raw('AssociateSoftwareToken', { AccessToken })
    const { SecretCode } = associated.json
    expect(SecretCode).toMatch(/^[A-Z2-7]{32}$/)
    const verify = (UserCode: string) => app.raw('VerifySoftwareToken', { AccessToken, UserCode })
    expect((await verify(wrongCode(SecretCode))).json.__type).toBe(
      'EnableSoftwareTokenMFAException',
    )
    expect((await verify(nextCode(SecretCode))).json).toEqual({ Status: 'SUCCESS' })
    const preference = { AccessToken, SoftwareTokenMfaSettings: { Enabled: true } }
    expect((await app.raw('SetUserMFAPreference', preference)).json).toEqual({})
    expect((await app.raw('GetUser', { AccessToken })).json).toMatchObject({
      PreferredMfaSetting: 'SOFTWARE_TOKEN_MFA',
    })

    const challenge = await byPassword()
    expect(challenge.json).toEqual({
      ChallengeName: 'SOFTWARE_TOKEN_MFA',
      Session: expect.any(String),
      ChallengeParameters: {},
    })
    const { Session } = challenge.json
    const wrong = await respond('SOFTWARE_TOKEN_MFA', Session, {
      SOFTWARE_TOKEN_MFA_CODE: wrongCode(SecretCode),
    })
    expect(wrong.json.__type).toBe('CodeMismatchException')
    for (const [name, session] of [
      ['SOFTWARE_TOKEN_MFA', 'x'],
      ['MFA_SETUP', Session],
    ] as const) {
      const answer = await respond(name, session, { SOFTWARE_TOKEN_MFA_CODE: '000000' })
      expect(answer.status).toBe(400)
      expect(answer.json).not.toHaveProperty('AuthenticationResult')
    }
    const right = await respond('SOFTWARE_TOKEN_MFA', Session, {
      SOFTWARE_TOKEN_MFA_CODE: nextCode(SecretCode),
    })
    expect(right.json.AuthenticationResult.AccessToken).toEqual(expect.any(String))

    const srp = new SrpClient()
    const begun = await app.raw('InitiateAuth', {
      ClientId,
      AuthFlow: 'USER_SRP_AUTH',
      AuthParameters: { USERNAME: owner.email, SRP_A: srp.publicHex },
    })
    const proof = srp.answer(begun.json.ChallengeParameters, {
      userPoolId: app.userPoolId,
      password: PASSWORD,
      at: now(),
    })
    const proven = await respond('PASSWORD_VERIFIER', '', proof)
    expect(proven.json).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA' })

    const settingsOff = { SoftwareTokenMfaSettings: { Enabled: false } }
    const used = await app.raw('SetUserMFAPreference', { AccessToken, ...settingsOff })
    expect(used.json.__type).toBe('NotAuthorizedException')
    const fresh = right.json.AuthenticationResult.AccessToken
    const off = { AccessToken: fresh, ...settingsOff }
    expect((await app.raw('SetUserMFAPreference', off)).json).toEqual({})
    expect((await byPassword()).json).toHaveProperty('AuthenticationResult')

    await settings(host, 'data', true)
    const required = await byPassword()
    expect(required.json).toMatchObject({ ChallengeName: 'MFA_SETUP' })
    const setup = await app.raw('AssociateSoftwareToken', { Session: required.json.Session })
    const again = await app.raw('VerifySoftwareToken', {
      Session: setup.json.Session,
      UserCode: nextCode(setup.json.SecretCode),
    })
    expect(again.json).toMatchObject({ Status: 'SUCCESS', Session: expect.any(String) })
    const done = await respond('MFA_SETUP', again.json.Session, {})
    expect(done.json).toHaveProperty('AuthenticationResult')
    await settings(host, 'data', false)
  })
})
