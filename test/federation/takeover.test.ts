import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import { link } from '#test/google-link.ts'
import {
  accountOf,
  answerOf,
  googleFor,
  lastEvent,
  setUpGoogle,
  signInClient,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { methodsOf, requestSignUp, signInWithPassword, signUp } from '#test/visitors.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

/** `joining.test` allows what is off by default: a Google sign-in may join the account with the same verified address. */
const HOSTS = ['one.test', 'joining.test'] as const

let stack: Stack
let google: FakeGoogle
beforeAll(async () => {
  stack = await startStack({ sites: HOSTS })
  google = await googleFor(stack, HOSTS)
  const change = { data: { linkVerifiedAddresses: true } }
  await stack.portal('PATCH', '/sites/joining.test/auth', change)
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

let victims = 0
const newVictim = (): string => `victim-${++victims}@example.test`

/** What the victim does: sign in with their own Google account, which has verified their address. */
const victimArrives = async (host: string, email: string) => {
  google.person = { subject: `google of ${email}`, email }
  return walkToGoogle(stack, host)
}

const identitiesOf = (email: string): Promise<readonly string[]> =>
  asSuperuser(stack, async (sql) => {
    const rows = await sql<{ subject: string }[]>`
      select subject from user_identity join pool_user using (site_id, user_pool_id, sub)
      where pool_user.email = ${email}`
    return rows.map(({ subject }) => subject)
  })

const passwordsOf = (email: string): Promise<number> =>
  asSuperuser(stack, async (sql) => {
    const rows = await sql`
      select 1 from user_password join pool_user using (site_id, user_pool_id, sub)
      where pool_user.email = ${email}`
    return rows.length
  })

/** An account with an unverified address, in each way that it can come to be. */
const plantUnverified = (host: string, email: string): Promise<unknown> =>
  asSuperuser(
    stack,
    (sql) => sql`
      insert into pool_user (site_id, user_pool_id, sub, email, email_verified, status, origin)
      select site_id, user_pool_id, gen_random_uuid()::text, ${email}, false, 'ACTIVE', 'sign-up'
      from user_pool join site using (site_id)
      where domain = ${host} and kind = 'data'`,
  )

describe.each(HOSTS)(
  'CVE-2024-38351, on %s: an attacker registers the victim’s address first',
  (host) => {
    test('and the victim’s Google sign-in makes an account of its own, without the attacker’s password', async () => {
      const email = newVictim()
      const attacker = new WalkingBrowser()
      await requestSignUp(attacker, { client: await signInClient(stack, host), email })
      const code = codeIn(await mailTo(stack, email, 'verification'))

      const account = await accountOf(stack, await victimArrives(host, email))
      expect(account.email).toBe(email)
      expect(await methodsOf(stack, host, account.accessToken)).toEqual({
        password: { enabled: false },
        google: { enabled: true, linkedAt: expect.any(String) },
      })
      expect(await passwordsOf(email)).toBe(0)
      const signIn = await signInWithPassword(stack, host, { email })
      expect(signIn.url.pathname).not.toBe('/auth/callback')
      expect(signIn.browser.cookie('croft_session')).toBeUndefined()
      expect(code).toMatch(/^\d{6}$/)
    })

    test('and the code that was mailed for it opens nothing once the victim has an account', async () => {
      const email = newVictim()
      const attacker = new WalkingBrowser()
      const client = await signInClient(stack, host)
      const waiting = await requestSignUp(attacker, { client, email })
      const code = codeIn(await mailTo(stack, email, 'verification'))
      await victimArrives(host, email)
      const confirmed = await attacker.submit(waiting, { code })
      expect(confirmed.url.pathname).not.toBe('/auth/callback')
      expect(attacker.cookie('croft_session')).toBeUndefined()
      expect(await passwordsOf(email)).toBe(0)
      expect(await identitiesOf(email)).toEqual([`google of ${email}`])
    })

    test('and an account whose address is not proven is never joined', async () => {
      const email = newVictim()
      await plantUnverified(host, email)
      const { answer } = await victimArrives(host, email)
      expect(answer.status).toBe(403)
      expect(answer.text).toContain('You already have an account')
      expect(await identitiesOf(email)).toEqual([])
      expect(await lastEvent(stack, 'provider.refused')).toMatchObject({
        detail: { reason: 'address-taken' },
      })
    })
  },
)

describe.each(HOSTS)(
  'CVE-2026-44166, on %s: an attacker links a provider identity first',
  (host) => {
    test('with the victim’s address, unverified: nothing is made that the victim could be led into', async () => {
      const email = newVictim()
      google.person = { subject: `attacker of ${email}`, email, emailVerified: false }
      const attacker = await walkToGoogle(stack, host)
      expect(attacker.answer.status).toBe(403)
      expect(await identitiesOf(email)).toEqual([])

      const victim = await signUp(stack, host, email)
      expect((await methodsOf(stack, host, victim.token)).google).toEqual({ enabled: false })
      google.person = { subject: `attacker of ${email}`, email, emailVerified: false }
      expect((await walkToGoogle(stack, host)).answer.status).toBe(403)
      expect(await identitiesOf(email)).toEqual([])
    })

    test('to an account of their own, and takes the victim’s address at the provider: it stays with its account', async () => {
      const email = newVictim()
      const attacker = await signUp(stack, host, `attacker-of-${email}`)
      google.person = { subject: `linked for ${email}`, email, emailVerified: false }
      expect(answerOf((await link(stack, host, attacker)).walk)).toHaveProperty('code')

      const victim = await accountOf(stack, await victimArrives(host, email))
      expect(victim.sub).not.toBe(attacker.sub)
      expect(await identitiesOf(email)).toEqual([`google of ${email}`])
      google.person = { subject: `linked for ${email}`, email, emailVerified: true }
      expect(await accountOf(stack, await walkToGoogle(stack, host))).toMatchObject({
        sub: attacker.sub,
        email: attacker.email,
      })
    })

    test('and later verifies it: the account that the identity belongs to does not change', async () => {
      const email = newVictim()
      const victim = await signUp(stack, host, email)
      const attacker = await signUp(stack, host, `late-attacker-of-${email}`)
      google.person = { subject: `late of ${email}`, email: attacker.email }
      await link(stack, host, attacker)
      google.person = { subject: `late of ${email}`, email }
      const { sub } = await accountOf(stack, await walkToGoogle(stack, host))
      expect(sub).toBe(attacker.sub)
      expect(await identitiesOf(email)).toEqual([])
      expect((await methodsOf(stack, host, victim.token)).google.enabled).toBe(false)
    })

    test('at a provider that the site then replaces: the same subject there is another person', async () => {
      const email = newVictim()
      google.person = { subject: 'same-subject', email: `first-${email}` }
      const first = await accountOf(stack, await walkToGoogle(stack, host))
      await using successor = await googleFor(stack, [host])
      successor.person = { subject: 'same-subject', email }
      const second = await accountOf(stack, await walkToGoogle(stack, host))
      expect(second).toMatchObject({ email })
      expect(second.sub).not.toBe(first.sub)
      await setUpGoogle(stack, host, google.issuer)
    })
  },
)

describe('a person whose address has a verified account', () => {
  test('is asked to sign in and to link, where the site has not said otherwise', async () => {
    const person = await signUp(stack, 'one.test', newVictim())
    const { answer, client } = await victimArrives('one.test', person.email)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('Once you are signed in, you can add Google')
    const href = /<a class="button" href="([^"]*)"/.exec(answer.text)?.[1] ?? ''
    const path = href.replaceAll('&#38;', '&')
    expect(path).toMatch(/^\/oidc\/[\w-]+\/login\?/)
    expect(path).not.toContain('identity_provider')
    expect(new URL(path, 'http://x').searchParams.get('state')).toBe(client.state)
    expect(await identitiesOf(person.email)).toEqual([])
  })

  test('joins it where the site allows that, and is notified by mail', async () => {
    const person = await signUp(stack, 'joining.test', newVictim())
    const walk = await victimArrives('joining.test', person.email)
    expect(await accountOf(stack, walk)).toMatchObject({ sub: person.sub, email: person.email })
    expect(await methodsOf(stack, 'joining.test', person.token)).toMatchObject({
      password: { enabled: true },
      google: { enabled: true },
    })
    await mailTo(stack, person.email, 'provider-linked')
    expect(await lastEvent(stack, 'provider.linked')).toMatchObject({
      sub: person.sub,
      detail: { provider: 'Google', by: 'verified-address' },
    })
  })

  test('does not join it when the account is linked to another one at Google', async () => {
    const person = await signUp(stack, 'joining.test', newVictim())
    google.person = { subject: `other of ${person.email}`, email: 'other@gmail.test' }
    await link(stack, 'joining.test', person)
    const { answer } = await victimArrives('joining.test', person.email)
    expect(answer.status).toBe(403)
    expect(await identitiesOf(person.email)).toEqual([`other of ${person.email}`])
    const mail = await allMailTo(stack, person.email, 'provider-linked')
    expect(mail.length).toBeLessThanOrEqual(1)
  })

  test('does not join it when Google has not verified the address', async () => {
    const person = await signUp(stack, 'joining.test', newVictim())
    google.person = { subject: `u ${person.email}`, email: person.email, emailVerified: false }
    expect((await walkToGoogle(stack, 'joining.test')).answer.status).toBe(403)
    expect(await identitiesOf(person.email)).toEqual([])
  })
})
