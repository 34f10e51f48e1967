import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'
import { decodeJwt } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

/** Chromium has passkeys there without TLS. */
const SITES = ['shop.localhost', 'club.localhost']
/** Its visitors sign in on a name of its own from the start. */
const OWN = 'own.localhost'
/** There they sign in on another name once the application is in use. */
const MOVING = 'moving.localhost'

const APPLICATION = fileURLToPath(new URL('../support/amplify-application.js', import.meta.url))

const missing = chromiumMissing()

describe.skipIf(missing)(`Amplify in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    const config = { baseUrl: 'http://localhost' }
    stack = await startStack({ sites: [...SITES, MOVING], config })
    await stack.portal('POST', '/sites', { domain: OWN, authDomain: `auth.${OWN}` })
    chromium = await launchChromium(stack.port)
    const entryPoints = [APPLICATION]
    const { outputFiles } = await build({ entryPoints, bundle: true, format: 'iife', write: false })
    const files = {
      'app.html': '<!doctype html><title>The app</title><script src="/app.js"></script>',
      'app.js': outputFiles[0]?.text ?? '',
    }
    const desk = new StaticDesk(stack, new DeployDesk(stack))
    for (const host of [...SITES, OWN, MOVING]) await desk.deploy(host, files)
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  let people = 0
  /** A page of the site with Amplify in it, and a visitor of the site with a password. */
  async function application(page: Page, host: string) {
    const app = await CognitoApp.of(stack, host)
    await page.goto(`http://${host}/app.html`)
    const settings = {
      userPoolId: app.userPoolId,
      userPoolClientId: app.clientId,
      userPoolEndpoint: app.issuer,
    }
    await page.evaluate(`configure(${JSON.stringify(settings)})`)
    const email = `a${++people}@visitors.test`
    await app.accountAtOnce(email, PASSWORD)
    const call = (name: string, input?: object): Promise<unknown> =>
      page.evaluate(`call(${[name, input].map((each) => JSON.stringify(each ?? null)).join()})`)
    const signIn = (preferredChallenge: string | undefined, more: object = {}) =>
      call('signIn', {
        username: email,
        options: { authFlowType: 'USER_AUTH', ...(preferredChallenge && { preferredChallenge }) },
        ...more,
      })
    return { app, email, call, signIn }
  }

  const SIGNED_IN = { isSignedIn: true, nextStep: { signInStep: 'DONE' } }

  describe.each([...SITES, OWN])('at %s', (host) => {
    test('adds a passkey, signs in with it, lists it and deletes it', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await deviceOf(page)
      const { email, call, signIn } = await application(page, host)
      expect(await signIn('PASSWORD', { password: PASSWORD })).toEqual(SIGNED_IN)
      expect(await call('associateWebAuthnCredential')).toBeFalsy()
      await mailTo(stack, email, 'passkey-added')
      expect(await call('signOut')).toBeFalsy()

      expect(await signIn('WEB_AUTHN')).toEqual(SIGNED_IN)
      expect(await call('getCurrentUser')).toMatchObject({ username: email })
      const { credentials } = (await call('listWebAuthnCredentials')) as {
        credentials: { credentialId: string }[]
      }
      expect(credentials).toEqual([
        expect.objectContaining({
          credentialId: expect.stringMatching(/^[\w-]{20,}$/),
          friendlyCredentialName: 'Passkey',
          relyingPartyId: host,
        }),
      ])
      const { json } = await stack.portal('GET', `/sites/${host}/audit?event=sign-in.succeeded`)
      expect(json.items[0]).toMatchObject({ detail: { method: 'passkey' } })
      const [credential] = credentials
      expect(await call('deleteWebAuthnCredential', credential)).toBeFalsy()
      await mailTo(stack, email, 'passkey-removed')
      await call('signOut')
      expect(await signIn('WEB_AUTHN')).toMatchObject({ failed: 'NotAuthorizedException' })
    })

    test('changes a name and an address, and deletes the account, after a sign-in for each', async () => {
      await using tab = await openTab(chromium)
      const { email, call, signIn } = await application(tab.page, host)
      const password = { password: PASSWORD }
      expect(await signIn('PASSWORD', password)).toEqual(SIGNED_IN)
      const wanted = `new-${email}`
      const changed = await call('updateUserAttributes', {
        userAttributes: { name: 'Ann', email: wanted },
      })
      expect(changed).toMatchObject({
        name: { isUpdated: true, nextStep: { updateAttributeStep: 'DONE' } },
        email: { nextStep: { updateAttributeStep: 'CONFIRM_ATTRIBUTE_WITH_CODE' } },
      })
      const confirmationCode = codeIn(await mailTo(stack, wanted, 'verification'))
      await call('confirmUserAttribute', { userAttributeKey: 'email', confirmationCode })
      expect(await call('fetchUserAttributes')).toMatchObject({ name: 'Ann', email: wanted })
      expect(await call('deleteUser')).toMatchObject({ failed: 'NotAuthorizedException' })
      await call('signOut')
      const again = { username: wanted, ...password }
      expect(await signIn('PASSWORD', again)).toEqual(SIGNED_IN)
      expect(await call('deleteUser')).toBeFalsy()
      await mailTo(stack, wanted, 'account-deleting')
      expect(await signIn('PASSWORD', again)).toMatchObject({ failed: 'NotAuthorizedException' })
    })

    test('lets its user choose how, and offers the same to everyone', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await deviceOf(page)
      const { call, signIn } = await application(page, host)
      const choice = {
        isSignedIn: false,
        nextStep: {
          signInStep: 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION',
          availableChallenges: ['PASSWORD', 'PASSWORD_SRP', 'WEB_AUTHN'],
        },
      }
      expect(await signIn(undefined)).toEqual(choice)
      expect(await signIn(undefined, { username: 'nobody@visitors.test' })).toEqual(choice)
      expect(await signIn('PASSWORD_SRP', { password: PASSWORD })).toEqual(SIGNED_IN)
      await call('associateWebAuthnCredential')
      await call('signOut')
      await signIn(undefined)
      expect(await call('confirmSignIn', { challengeResponse: 'WEB_AUTHN' })).toEqual(SIGNED_IN)
      await call('signOut')
      const others = await signIn('WEB_AUTHN', { username: `a${people - 1}@visitors.test` })
      expect(others).toMatchObject({ failed: 'NotAuthorizedException' })
    })
  })

  test('goes on with what it has when the sign-in moves, and may ask the new name or the old', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await deviceOf(page)
    const { app, call, signIn } = await application(page, MOVING)
    const password = { password: PASSWORD }
    expect(await signIn('PASSWORD_SRP', password)).toEqual(SIGNED_IN)
    await call('associateWebAuthnCredential')
    const authDomain = `auth.${MOVING}`
    const moved = await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain })
    expect(moved.json).toMatchObject({ authDomain, formerAuthDomains: [MOVING] })

    const issuers = async (options?: object) => {
      const { accessToken, idToken } = (await call('tokens', options)) as Record<string, string>
      const answer = await stack.call(MOVING, 'GET', '/data/auth/methods', { token: accessToken })
      expect(answer.status).toBe(200)
      return [decodeJwt(accessToken ?? '').iss, decodeJwt(idToken ?? '').iss]
    }
    expect(await issuers()).toEqual([app.issuer, app.issuer])
    expect(await issuers({ forceRefresh: true })).toEqual([app.issuer, app.issuer])
    for (const how of ['PASSWORD', 'PASSWORD_SRP', 'WEB_AUTHN']) {
      expect(await call('signOut'), how).toBeFalsy()
      expect(await signIn(how, password), how).toEqual(SIGNED_IN)
      expect(await issuers(), how).toEqual([app.issuer, app.issuer])
    }

    const { userPoolId, clientId: userPoolClientId, issuer } = await CognitoApp.of(stack, MOVING)
    expect(new URL(issuer).hostname).toBe(authDomain)
    const settings = { userPoolId, userPoolClientId, userPoolEndpoint: issuer }
    await page.evaluate(`configure(${JSON.stringify(settings)})`)
    expect(await issuers({ forceRefresh: true })).toEqual([issuer, issuer])
    await call('signOut')
    expect(await signIn('WEB_AUTHN')).toEqual(SIGNED_IN)
    expect(await issuers()).toEqual([issuer, issuer])
  })
})
