import { expect } from 'vitest'

import { isProviderCallback } from './google-sign-in.ts'
import type { Journey } from './journey.ts'
import { codeIn, linkIn, mailTo } from './outbox.ts'
import { SrpClient } from './srp-client.ts'
import { PASSWORD } from './visitors.ts'
import type { Walk } from './walking-browser.ts'

const NEW_PASSWORD = 'Another-Horse-8-Battery'

/** Each loses nothing, and gets nothing twice, although another process may answer at any step. */
export const SIGN_IN_JOURNEYS: Readonly<Record<string, (on: Journey) => Promise<void>>> = {
  async 'signs in, renews and comes back without being asked'(on) {
    const { email, sub } = await on.newPerson()
    const client = await on.client()
    const browser = on.newBrowser()
    const page = await browser.open(client.authorizeUrl)
    await on.change()
    const signedIn = await browser.submit(page, { username: email, password: PASSWORD })
    await on.change()
    const first = await on.tokens(client, signedIn)
    await on.change()
    const second = await on.renewed(client, first)
    await on.change()
    const third = await on.renewed(client, second)
    expect(await on.statusWith(third.access_token)).toBe(404)
    await on.change()
    const again = await on.client()
    const back = await browser.open(again.authorizeUrl)
    expect(back.steps).toHaveLength(1)
    await on.change()
    const { access_token: token } = await on.tokens(again, back)
    const { pathname } = new URL(`${client.issuer}/oauth2/userInfo`)
    const { json } = await on.front.call(on.host, 'GET', pathname, { token })
    expect(json).toMatchObject({ sub, email })
  },

  async 'signs out, and is out'(on) {
    const { email, browser } = await on.newPerson()
    const client = await on.client()
    const tokens = await on.tokens(client, await browser.open(client.authorizeUrl))
    await on.change()
    const leaving = { client_id: client.clientId, logout_uri: `${on.front.baseUrl(on.host)}/` }
    const out = `${client.issuer}/logout?${new URLSearchParams(leaving).toString()}`
    const left = await browser.open(out, ({ pathname }) => pathname === '/')
    expect(left.url.pathname).toBe('/')
    await on.change()
    await on.hasEnded(client, tokens)
    expect((await browser.open(client.authorizeUrl)).url.pathname).toMatch(/\/login$/)
    await on.change()
    expect(await on.canSignIn(email)).toBe(true)
  },

  async 'signs up with a mailed code, once'(on) {
    const email = on.newAddress()
    const client = await on.client()
    const browser = on.newBrowser()
    const form = await on.open(browser, client, 'signup')
    await on.change()
    const waiting = await browser.submit(form, { username: email, password: PASSWORD })
    await on.change()
    const code = codeIn(await mailTo(on.front, email, 'verification'))
    await on.change()
    const signedUp = await browser.submit(waiting, { code })
    await on.change()
    await on.tokens(client, signedUp)
    await on.change()
    expect(await isRefused(await browser.submit(waiting, { code }))).toBe(true)
    expect(await on.canSignIn(email)).toBe(true)
  },

  async 'has five tries at a mailed code, and no more'(on) {
    const client = await on.client()
    const browser = on.newBrowser()
    const email = on.newAddress()
    const form = await on.open(browser, client, 'signup')
    const waiting = await browser.submit(form, { username: email, password: PASSWORD })
    const code = codeIn(await mailTo(on.front, email, 'verification'))
    const wrong = code === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 5; tries++) {
      await on.change()
      expect(await isRefused(await browser.submit(waiting, { code: wrong }))).toBe(true)
    }
    await on.change()
    expect(await isRefused(await browser.submit(waiting, { code }))).toBe(true)
    expect(await on.canSignIn(email)).toBe(false)
  },

  async 'recovers a forgotten password, which ends what was signed in'(on) {
    const { email, browser: before } = await on.newPerson()
    const client = await on.client()
    const old = await on.tokens(client, await before.open(client.authorizeUrl))
    const browser = on.newBrowser()
    const form = await on.open(browser, client, 'forgotPassword')
    await on.change()
    const reset = await browser.submit(form, { username: email })
    await on.change()
    const code = codeIn(await mailTo(on.front, email, 'reset'))
    await on.change()
    const login = await browser.submit(reset, { code, password: NEW_PASSWORD })
    expect(login.url.pathname).toMatch(/\/login$/)
    await on.change()
    await on.hasEnded(client, old)
    expect((await before.open(client.authorizeUrl)).url.pathname).toMatch(/\/login$/)
    const signedIn = await browser.submit(login, { username: email, password: NEW_PASSWORD })
    await on.change()
    await on.tokens(client, signedIn)
    expect(await isRefused(await browser.submit(reset, { code, password: PASSWORD }))).toBe(true)
    expect(await on.canSignIn(email)).toBe(false)
  },

  async 'takes an invite, once, and administers the site'(on) {
    const operator = { user: `ann@${on.host}`, pool: 'admin' }
    const { token } = (await on.front.portal('POST', `/sites/${on.host}/tokens`, operator)).json
    const email = on.newAddress()
    const invitation = { token, body: { email, role: 'admin' } }
    const invited = await on.front.call(on.host, 'POST', '/admin/api/users', invitation)
    expect(invited.status).toBe(200)
    await on.change()
    const link = linkIn(await mailTo(on.front, email, 'invite'))
    await on.change()
    const browser = on.newBrowser()
    const form = await browser.open(link)
    await on.change()
    const both = { password: PASSWORD, confirmPassword: PASSWORD }
    expect((await browser.submit(form, both)).answer.text).toContain('Your account is ready')
    await on.change()
    expect((await browser.open(link)).answer.status).toBe(410)
    expect((await browser.submit(form, both)).answer.status).toBe(410)
    const client = await on.client('admin')
    const page = await on.open(browser, client, 'login')
    await on.change()
    const walk = await browser.submit(page, { username: email, password: PASSWORD })
    await on.change()
    const { access_token: mine } = await on.tokens(client, walk)
    const profile = await on.front.call(on.host, 'GET', '/admin/api/profile', { token: mine })
    expect(profile).toMatchObject({ status: 200, json: { primaryEmail: email } })
  },

  async 'uses a code twice, and loses its tokens'(on) {
    const { browser } = await on.newPerson()
    const client = await on.client()
    const walk = await browser.open(client.authorizeUrl)
    const tokens = await on.tokens(client, walk)
    await on.change()
    expect(await on.statusWith(tokens.access_token)).toBe(404)
    const { status, json } = await on.exchange(client, walk)
    expect({ status, error: json.error }).toEqual({ status: 400, error: 'invalid_grant' })
    await on.change()
    await on.hasEnded(client, tokens)
  },

  async 'uses a refresh token twice, and gets the same tokens'(on) {
    const { browser } = await on.newPerson()
    const client = await on.client()
    const first = await on.tokens(client, await browser.open(client.authorizeUrl))
    await on.change()
    const second = await on.renewed(client, first)
    // Before the next change: a restart may take longer than the ten seconds in which it can be asked for again.
    expect(await on.renewed(client, first)).toEqual(second)
    await on.change()
    expect(await on.statusWith(second.access_token)).toBe(404)
  },

  async 'uses a refresh token twice for different scopes, and loses the sign-in'(on) {
    const { browser } = await on.newPerson()
    const client = await on.client()
    const first = await on.tokens(client, await browser.open(client.authorizeUrl))
    const second = await on.renewed(client, first)
    await on.change()
    expect((await on.refresh(client, first.refresh_token, 'email')).status).toBe(400)
    await on.change()
    await on.hasEnded(client, second)
  },

  async 'is revoked, and stays so'(on) {
    const { browser } = await on.newPerson()
    const client = await on.client()
    const tokens = await on.tokens(client, await browser.open(client.authorizeUrl))
    await on.change()
    expect((await on.revoke(client, tokens.refresh_token)).status).toBe(200)
    await on.change()
    await on.hasEnded(client, tokens)
  },

  async 'comes with Google, by an answer that is good once'(on) {
    const email = on.newAddress()
    on.google.person = { subject: email, email }
    const client = await on.client('data', { identity_provider: 'Google' })
    const browser = on.newBrowser()
    const answered = await browser.open(client.authorizeUrl, isProviderCallback)
    await on.change()
    const arrived = await browser.open(answered.url.href)
    await on.change()
    const tokens = await on.tokens(client, arrived)
    expect(await on.statusWith(tokens.access_token)).toBe(404)
    await on.change()
    const replay = await browser.open(answered.url.href)
    expect(replay.answer.status).toBe(410)
  },

  async 'proves the password to the Cognito API, once'(on) {
    const { email } = await on.newPerson()
    const client = await on.client()
    const srp = new SrpClient()
    const parameters = { USERNAME: email, SRP_A: srp.publicHex }
    const begun = { AuthFlow: 'USER_SRP_AUTH', AuthParameters: parameters }
    const challenge = (await on.cognito(client, 'InitiateAuth', begun)).json
    const claim = { userPoolId: client.issuer.split('/').at(-1) ?? '', password: PASSWORD }
    const ChallengeResponses = srp.answer(challenge.ChallengeParameters, claim)
    const proof = { ChallengeName: 'PASSWORD_VERIFIER', ChallengeResponses }
    await on.change()
    const proven = await on.cognito(client, 'RespondToAuthChallenge', proof)
    expect(proven.status, proven.text).toBe(200)
    await on.change()
    const again = await on.cognito(client, 'RespondToAuthChallenge', proof)
    expect(again.json).toMatchObject({ __type: 'NotAuthorizedException' })
    const { AccessToken, RefreshToken } = proven.json.AuthenticationResult
    expect(await on.statusWith(AccessToken)).toBe(404)
    await on.change()
    expect((await on.refresh(client, RefreshToken)).status).toBe(200)
  },
}

/** Whether the page is there again, and says that the code is wrong. */
async function isRefused({ url, answer }: Walk): Promise<boolean> {
  expect(url.searchParams.get('code')).toBeNull()
  return answer.status === 400 && answer.text.includes('The code is wrong')
}
