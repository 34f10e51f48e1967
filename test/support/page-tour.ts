import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'

import { SYSTEM } from '#base/actor.ts'
import type { Language } from '#base/language.ts'
import { t } from '#languages/message.ts'

import { follow, sendForm } from './browser.ts'
import { linkIn, mailTo } from './outbox.ts'
import { RegisteredParty } from './registered-client.ts'
import { RelyingParty } from './relying-party.ts'
import type { Stack } from './stack.ts'

const PASSWORD = 'Correct-horse-7'
/** A picture of one pixel. */
export const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const LONG_DOMAIN = 'a-rather-long-domain-name-for-a-narrow-phone.example.test'

/** How the tour goes from page to page. */
interface Tour {
  readonly at: (name: string, arrive: () => Promise<unknown>) => Promise<void>
  readonly open: (path: string) => () => Promise<unknown>
  readonly send: (fields: Readonly<Record<string, string>>) => () => Promise<unknown>
}

export interface TourOptions {
  readonly page: Page
  /** Whose pages. */
  readonly domain: string
  /** Of the browser that the page is in. */
  readonly language: Language
  readonly look: (name: string) => Promise<void>
}

/** Every page of the hosted sign-in, of invites and of forwarding as a person meets it, with and without mistakes. */
export async function tourPages(
  stack: Stack,
  { page, domain, language, look }: TourOptions,
): Promise<void> {
  const base = stack.baseUrl(domain)
  const client = await RelyingParty.of(stack, domain)
  const admin = await RelyingParty.of(stack, domain, 'admin')
  const email = `guest-of-${domain}@${LONG_DOMAIN}`
  const at = async (name: string, arrive: () => Promise<unknown>): Promise<void> => {
    await arrive()
    await look(name)
  }
  const open = (path: string) => () => page.goto(base + path)
  const send = (fields: Readonly<Record<string, string>>) => () => sendForm(page, fields)

  await at('admin-login', open(admin.page('login')))
  await at('login', open(client.page('login')))
  await at('login-wrong', send({ username: email, password: 'Wrong-horse-7' }))

  await at('signup', open(client.page('signup')))
  await at('signup-faults', send({ username: email, password: 'short' }))
  await at('confirm', send({ password: PASSWORD }))
  await at('confirm-resent', () => sendForm(page, {}, 'button[value=resend]'))
  await at('confirm-wrong', send({ code: 'wrong' }))

  await at('forgot', open(client.page('forgotPassword')))
  await at('reset', send({ username: email }))
  await at('reset-wrong', send({ code: '000000', password: 'Another-horse-8' }))

  await at('onboarding', async () => page.goto(await inviteLink(client, email)))
  await at('onboarding-faults', send({ password: PASSWORD, confirmPassword: 'Other-horse-8' }))
  await at('welcome', send({ password: PASSWORD, confirmPassword: PASSWORD }))
  await at('onboarding-incomplete', open('/admin/public/onboarding/user'))

  await at('forwarding', async () => page.goto(await forwardingLink(client)))
  await at('forwarding-agreed', send({}))
  await at('forwarding-incomplete', open('/admin/public/forwarding/verify'))

  await accountPages(client, { base, email, page, language }, { at, open, send })

  await at('refused', open(client.page('login', { client_id: 'nobody' })))
  await at('signed-out', open(`${client.path}/logout`))

  await memberPages(admin, base, { at, open, send })
  await errorPages(admin, { at, open })
}

/** Pages of the account of a person who signs in there. */
async function accountPages(
  client: RelyingParty,
  {
    base,
    email,
    page,
    language,
  }: Pick<TourOptions, 'page' | 'language'> & { readonly base: string; readonly email: string },
  { at, open, send }: Pick<Tour, 'at' | 'open' | 'send'>,
): Promise<void> {
  const sub = await withPassword(client, email)
  await page.goto(`${base}${client.path}/account`)
  await at('account', send({ username: email, password: PASSWORD }))
  await at('account-name', open(`${client.path}/account/name`))
  await at('account-named', send({ name: 'Wolfeschlegelsteinhausenbergerdorff Jr.' }))
  await at('account-address', open(`${client.path}/account/address`))
  await at('account-address-sent', send({ username: `new-${email}`, currentPassword: PASSWORD }))
  await at('account-password', open(`${client.path}/account/password`))
  await at('account-password-wrong', send({ currentPassword: 'Wrong-horse-7', password: 'x' }))
  await at('account-totp', open(`${client.path}/account/totp`))
  await at('account-totp-codes', async () =>
    sendForm(page, { code: await shownCode(page), currentPassword: PASSWORD }),
  )
  await at('account-with-app', open(`${client.path}/account`))
  await at('account-totp-remove', open(`${client.path}/account/totp/remove`))
  await at('account-recovery-codes', open(`${client.path}/account/recovery-codes`))
  await page.context().clearCookies({ name: /session/ })
  await page.goto(base + client.page('login'))
  await at('second-step', send({ username: email, password: PASSWORD }))
  await at('second-step-recovery', () => follow(page, t('second-step.use-recovery').in(language)))
  await at('second-step-wrong', send({ code: 'wrong' }))
  await page.goto(`${base}${client.path}/account`)
  await client.stack.context.secondFactors.disable(client.site, client.pool, sub, SYSTEM)
  await send({ username: email, password: PASSWORD })()
  await applicationPages(client, base, { at, open, send })
  await at('account-passkey', open(`${client.path}/account/passkey`))
  await at('account-delete', open(`${client.path}/account/delete`))
  await at('account-deleted', send({ username: email, currentPassword: PASSWORD }))
}

/** The way of a super-admin into the administration and out. */
async function memberPages(
  { stack, site, path, pool }: RelyingParty,
  base: string,
  { at, open, send }: Pick<Tour, 'at' | 'open' | 'send'>,
): Promise<void> {
  const username = `ann@${site.domain}`
  await open(new URL(linkIn(await mailTo(stack, username, 'invite'))).href.slice(base.length))()
  await send({ password: PASSWORD, confirmPassword: PASSWORD })()
  await open(`${path}/account`)()
  await at('administration', send({ username, password: PASSWORD }))
  const out = new URLSearchParams({ client_id: pool.clientId, logout_uri: `${base}/admin` })
  await at('administration-left', open(`${path}/logout?${out.toString()}`))
  await at('administration-refused', open('/admin/callback?error=access_denied'))
}

/** What people meet who went to the wrong place, or at a wrong time. */
async function errorPages(
  { stack, site }: RelyingParty,
  { at, open }: Pick<Tour, 'at' | 'open'>,
): Promise<void> {
  const path = '/admin/public/forwarding/verify?token=wrong&mailbox=a@one.test&target=b@c.test'
  await at('root', open('/'))
  await at('nothing-here', open('/nowhere'))
  await at('sign-in-first', open('/admin/api/users'))
  await at('not-allowed', open('/objects/x?sig=wrong'))
  await at('wait', async () => {
    for (let tries = 0; tries < 500; tries++) {
      const { status } = await stack.call(site.domain, 'GET', path)
      if (status === 429) break
    }
    await open(path)()
  })
}

/** Pages of a third-party application for a person who is signed in. */
async function applicationPages(
  { stack, site, path }: RelyingParty,
  base: string,
  { at, open, send }: Pick<Tour, 'at' | 'open' | 'send'>,
): Promise<void> {
  const redirectUri = `${base}/auth/callback`
  const app = await RegisteredParty.register(stack, site.domain, {
    name: 'The Helpdesk of Wolfeschlegelsteinhausenbergerdorff & Sons',
    redirectUris: [redirectUri],
    isThirdParty: true,
    privacyUri: 'https://helpdesk.example/privacy',
    logo: DOT,
  })
  const request = app.request({ redirect_uri: redirectUri })
  await at('application-login', open(app.party.page('login', request)))
  await at('consent', open(app.party.page('oauth2/authorize', request)))
  await send({})()
  await at('account-applications', open(`${path}/account`))
}

/** The user with the address, with the password. */
async function withPassword(client: RelyingParty, email: string): Promise<string> {
  const { stack, site, pool } = client
  const sub = await client.user(email)
  const origin = { address: '192.0.2.7', userAgent: 'tour', requestId: 'tour' }
  await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
  return sub
}

/** The code of an app that has scanned the page. */
async function shownCode(page: Page): Promise<string> {
  const key = (await page.textContent('.key'))?.replaceAll(' ', '') ?? ''
  return new TOTP({ secret: Secret.fromBase32(key) }).generate()
}

/** The link in the mail of an admin's invitation. */
async function inviteLink({ stack, site }: RelyingParty, email: string): Promise<string> {
  const token = await stack.adminToken(site.domain)
  const invitation = { token, body: { email, role: 'user' } }
  const answer = await stack.call(site.domain, 'POST', '/admin/api/users', invitation)
  if (answer.status !== 200) throw new Error(`Not invited: ${answer.status} ${answer.text}`)
  return linkIn(await mailTo(stack, email, 'invite'))
}

/** In the mail that asks a target of forwarding. */
async function forwardingLink({ stack, site }: RelyingParty): Promise<string> {
  const address = `a-mailbox-with-a-rather-long-name@${site.domain}`
  const target = `mail-of-${site.domain}@${LONG_DOMAIN}`
  const mailboxes = `/sites/${site.domain}/mailboxes`
  await stack.portal('POST', mailboxes, { address, owners: [`ann@${site.domain}`] })
  const path = `${mailboxes}/${address}/forwarding-targets`
  const answer = await stack.portal('POST', path, { targets: [target] })
  if (answer.status !== 200) throw new Error(`Not asked: ${answer.status} ${answer.text}`)
  return linkIn(await mailTo(stack, target))
}
