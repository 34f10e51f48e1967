import type { Page } from 'playwright-core'

import type { RelyingParty, SignedInBrowser } from './relying-party.ts'
import { WalkingBrowser } from './walking-browser.ts'

/** A browser that is signed in where the sign-in of the client's site is now, wherever the client knows it to be. */
export async function signedInBrowser(
  client: RelyingParty,
  email: string,
): Promise<WalkingBrowser> {
  const now = await client.at(client.stack)
  const { cookie } = await now.signIn(await now.user(email))
  const browser = new WalkingBrowser()
  browser.keep(new URL(now.pool.issuer), cookie)
  return browser
}

/** Gives Chromium the cookie of a sign-in, as the page of the sign-in sets it. */
export async function holdSignIn(
  page: Page,
  { host, path, pool }: RelyingParty,
  { cookie, token }: SignedInBrowser,
): Promise<void> {
  const secure = pool.issuer.startsWith('https:')
  const place = { domain: host, path: secure ? '/' : path, secure }
  const held = { name: cookie.slice(0, cookie.indexOf('=')), value: token, ...place }
  await page.context().addCookies([{ ...held, httpOnly: true, sameSite: 'Lax' }])
}
