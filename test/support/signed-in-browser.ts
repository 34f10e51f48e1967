import type { RelyingParty } from './relying-party.ts'
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
