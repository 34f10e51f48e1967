import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { type ClientApp, startClientApp } from '#test/client-app.ts'
import { mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const TO = 'bob@example.org'

/** What a page's script learns of its post. */
type Outcome = { readonly status: number; readonly messageId?: string } | 'TypeError'

const missing = chromiumMissing()

describe.skipIf(missing)(
  `a contact form in Chromium${missing ? ` (${missing})` : ''}, on a page of another origin`,
  () => {
    let stack: Stack
    let chromium: Browser
    let app: ClientApp
    let stranger: ClientApp
    beforeAll(async () => {
      app = await startClientApp()
      stranger = await startClientApp()
      stack = await startStack()
      for (const host of ['one.test', 'two.test']) {
        await stack.portal('POST', `/sites/${host}/contact-recipients`, { recipients: [TO] })
      }
      await stack.portal('PATCH', '/sites/one.test', {
        deploymentSettings: { cors: { origins: [app.origin] } },
      })
      chromium = await launchChromium()
    })
    afterAll(async () => {
      await chromium.close()
      await stranger[Symbol.asyncDispose]()
      await app[Symbol.asyncDispose]()
      await stack[Symbol.asyncDispose]()
    })

    const post = (page: Page, host: string, message: string): Promise<Outcome> => {
      const options = {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': message },
        body: JSON.stringify({ email: 'vic@example.org', message }),
      }
      const url = `${stack.baseUrl(host)}/admin/public/contact`
      return page.evaluate(
        `fetch('${url}', ${JSON.stringify(options)}).then(
          async (answer) => ({ status: answer.status, ...(await answer.json()) }),
          ({ name }) => name)`,
      )
    }
    const queued = (host: string) =>
      stack.inSite(host, (tx, { siteId }) =>
        tx.db
          .selectFrom('outbound_message')
          .select('message_id')
          .where('site_id', '=', siteId)
          .where('kind', '=', 'contact')
          .execute(),
      )

    test('is sent when the site names that origin', async () => {
      await using tab = await openTab(chromium)
      await tab.page.goto(app.origin)
      const outcome = await post(tab.page, 'one.test', 'hello-there')
      expect(outcome).toEqual({ status: 200, messageId: expect.stringMatching(/^msg_/) })
      expect(await post(tab.page, 'one.test', 'hello-there')).toEqual(outcome)
      expect((await mailTo(stack, TO)).text).toContain('hello-there')
      expect(await queued('one.test')).toHaveLength(1)
      expect(tab.complaints).toEqual([])
    })

    test('is not sent otherwise, whatever it is sent as', async () => {
      const before = [await queued('one.test'), await queued('two.test')]
      await using tab = await openTab(chromium)
      const { page } = tab
      await page.goto(stranger.origin)
      expect(await post(page, 'one.test', 'from-a-stranger')).toBe('TypeError')
      const form = `new URLSearchParams({ email: 'vic@example.org', message: 'x' })`
      for (const body of [form, `'{"email":"vic@example.org","message":"x"}'`]) {
        const url = `${stack.baseUrl('one.test')}/admin/public/contact`
        const asking = `fetch('${url}', { method: 'POST', mode: 'no-cors', body: ${body} })`
        expect(await page.evaluate(`${asking}.then(({ type }) => type)`)).toBe('opaque')
      }
      await page.goto(app.origin)
      expect(await post(page, 'two.test', 'to-another-site')).toBe('TypeError')
      expect([await queued('one.test'), await queued('two.test')]).toEqual(before)
    })
  },
)
