import type { Browser } from 'playwright-core'

import { launchChromium } from './browser.ts'
import { type Stack, startStack } from './stack.ts'
import { asSuperuser } from './superuser.ts'
import { startTlsFront } from './tls-front.ts'

/**
 * Two sites without TLS and with it: `shared` has its sign-ins on its own origin, `apart` on names of their own. Without TLS,
 * Chromium has passkeys, Fetch Metadata and opener policies on this machine's own names alone.
 */
export const BROWSER_PLACES = [
  { scheme: 'http', shared: 'shop.localhost', apart: 'club.localhost' },
  { scheme: 'https', shared: 'shop.test', apart: 'club.test' },
] as const

export interface BrowserSites extends AsyncDisposable {
  readonly stack: Stack
  readonly chromium: Browser
}

/** The names that `apart` has for its sign-ins. */
export const ownNames = (site: string) => ({
  adminDomain: `admin.${site}`,
  authDomain: `auth.${site}`,
})

/** Starts a service with the two sites, and Chromium. `prepare` runs while both have their sign-ins on their own origins. */
export async function startBrowserSites(
  { scheme, shared, apart }: (typeof BROWSER_PLACES)[number],
  prepare?: (stack: Stack) => Promise<void>,
): Promise<BrowserSites> {
  await using starting = new AsyncDisposableStack()
  const sites = [shared, apart]
  const stack = starting.use(
    await startStack({ sites, config: { baseUrl: `${scheme}://localhost` } }),
  )
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  await prepare?.(stack)
  await stack.portal('PATCH', `/sites/${apart}`, ownNames(apart))
  const front = scheme === 'https' ? starting.use(await startTlsFront(stack.port)) : undefined
  const chromium = await launchChromium(front?.port ?? stack.port, front?.keyHash)
  starting.defer(() => chromium.close())
  const resources = starting.move()
  return { stack, chromium, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}
