import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { builtConsole } from '#platform/console/built-console.ts'
import { consoleLabel } from '#sites/console-host.ts'
import { PASSWORD } from '#test/account-owner.ts'
import { chromiumMissing, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const missing = chromiumMissing()
const DOMAIN = 'shop.test'
const HOST = `${consoleLabel(DOMAIN)}.console.localhost`

describe.skipIf(missing)(`the console in Chromium${missing ? ` (${missing})` : ''}`, () => {
  const started = new AsyncDisposableStack()
  let stack: Stack
  let chromium: Awaited<ReturnType<typeof launchChromium>>
  beforeAll(async () => {
    const platform = { openConsole: () => builtConsole() }
    stack = started.use(await startStack({ sites: [DOMAIN], platform }))
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    chromium = await launchChromium()
    started.defer(() => chromium.close())
  })
  afterAll(() => started.disposeAsync())

  test('signs an admin in and shows a screen, without a report of its policy', async () => {
    const party = await RelyingParty.of(stack, DOMAIN, 'admin')
    const { site, pool } = party
    const sub = await party.user(`ann@${DOMAIN}`)
    const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
    await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
    await using tab = await openTab(chromium)
    const { page, complaints } = tab
    const foreign: string[] = []
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url())
      if (protocol !== 'data:' && hostname !== HOST) foreign.push(request.url())
    })
    await page.goto(`${stack.baseUrl(HOST)}/people/admins`)
    await page.waitForURL('**/login?**')
    await sendForm(page, { username: `ann@${DOMAIN}`, password: PASSWORD })
    await page.waitForURL('**/people/admins')
    await page.waitForSelector('#app h1')
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    expect(foreign).toEqual([])
    expect(complaints).toEqual([])
  })
})
