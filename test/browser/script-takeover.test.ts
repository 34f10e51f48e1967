import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { type Tab, chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { holdSignIn } from '#test/signed-in-browser.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'
import { asSuperuser } from '#test/superuser.ts'

/** Chromium sends Fetch Metadata and honours opener policies there without TLS. */
const HOST = 'shop.localhost'
const PAGE = '/a-page-with-a-hostile-script'

const missing = chromiumMissing()

describe.skipIf(missing)(`a script on the site’s origin${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    stack = await startStack({ sites: [HOST], config: { baseUrl: 'http://localhost' } })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    const { redirectUri } = await RelyingParty.of(stack, HOST)
    const callback = `${new URL(redirectUri).pathname.slice(1)}.html`
    await new StaticDesk(stack, new DeployDesk(stack)).deploy(HOST, { [callback]: '<p>Hello' })
    chromium = await launchChromium(stack.port)
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  /** A browser that is signed in, on a page of the site, and where that page asks for a code. */
  async function victim(kind: PoolKind): Promise<{ tab: Tab; url: string; redirectUri: string }> {
    const client = await RelyingParty.of(stack, HOST, kind)
    const sub = await client.user(kind === 'admin' ? `ann@${HOST}` : 'vic@example.org')
    const tab = await openTab(chromium)
    await holdSignIn(tab.page, client, await client.signIn(sub))
    const html = { contentType: 'text/html', body: '<!doctype html><title>A page</title>' }
    await tab.page.context().route(`**${PAGE}`, (route) => route.fulfill(html))
    const url = `http://${HOST}${client.page('oauth2/authorize', { prompt: 'none' })}`
    await tab.page.goto(`http://${HOST}${PAGE}`)
    return { tab, url, redirectUri: client.redirectUri }
  }

  test.each(['admin', 'data'] as const)('fetches no code, %s', async (kind) => {
    const { tab, url } = await victim(kind)
    await using _ = tab
    const answer = await tab.page.evaluate(async (address) => {
      const response = await fetch(address, { credentials: 'include' })
      return { status: response.status, url: response.url }
    }, url)
    expect(answer).toEqual({ status: 403, url })
  })

  test.each([
    ['admin', 'nothing'],
    ['data', 'code'],
  ] as const)('sees in a frame, %s: %s', async (kind, seen) => {
    const { tab, url } = await victim(kind)
    await using _ = tab
    expect(await frameOf(tab.page, url)).toBe(seen)
  })

  test.each(['prompt=none', 'prompt=login'])(
    'reaches no window that it opened for an admin’s sign-in: %s',
    async (prompt) => {
      const { tab, url, redirectUri } = await victim('admin')
      await using _ = tab
      const opened = tab.page.context().waitForEvent('page')
      const passed = addressesOf(tab)
      const address = url.replace('prompt=none', prompt)
      await tab.page.evaluate(`globalThis.opened = window.open(${JSON.stringify(address)}), 0`)
      const popup = await opened
      await popup.waitForLoadState()
      const end = prompt === 'prompt=none' ? `${redirectUri}?code=` : `http://${HOST}/oidc/`
      await expect.poll(() => passed.some((each) => each.startsWith(end))).toBe(true)
      // The page learns that the window is another's from its own process, some time after the window does.
      await expect.poll(() => tab.page.evaluate('opened.closed')).toBe(true)
    },
  )

  test.each(['admin', 'data'] as const)('sends its user to a sign-in, %s', async (kind) => {
    const { tab, url, redirectUri } = await victim(kind)
    await using _ = tab
    const passed = addressesOf(tab)
    await tab.page.goto(url)
    expect(passed.filter((each) => each.startsWith(`${redirectUri}?code=`))).toHaveLength(1)
  })
})

/** Where the windows of the browser come by from now on: the administration leads on to the account. */
function addressesOf({ page }: Tab): readonly string[] {
  const addresses: string[] = []
  page.context().on('request', (request) => {
    if (request.isNavigationRequest()) addresses.push(request.url())
  })
  return addresses
}

/** What a page reads of the address at which a frame of its own ended: whether it has a code. */
const frameOf = (page: Page, url: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.addEventListener('load', () => {
      try {
        resolve(new URL(frame.contentWindow.location.href).searchParams.has('code') ? 'code' : 'an address')
      } catch {
        resolve('nothing')
      }
    })
    frame.src = ${JSON.stringify(url)}
    document.body.append(frame)
  })`)
