import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Language } from '#base/language.ts'
import { t } from '#languages/message.ts'
import { consoleLabel } from '#sites/console-host.ts'
import { chromiumMissing, follow, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const NO_SCRIPT = { javaScriptEnabled: false }

const missing = chromiumMissing()

describe.skipIf(missing)(`an owner in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    stack = await startStack({ sites: [] })
    chromium = await launchChromium()
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  test.each([
    ['shared.test', undefined, 'en'],
    ['apart.test', 'admin.apart.test', 'en'],
    ['geteilt.test', undefined, 'de'],
    ['extra.test', 'verwaltung.test', 'de'],
  ] as const)(
    'goes from the invite to %s (administration: %s) to the account, out and back, by links alone, in %s',
    async (domain, adminDomain, language: Language) => {
      const email = `ann@${domain}`
      const names = adminDomain === undefined ? {} : { adminDomain }
      await stack.createSite({ domain, superAdmins: [email], ...names })
      await using tab = await openTab(chromium, { ...NO_SCRIPT, locale: language })
      const { page } = tab
      const statuses: number[] = []
      page.on('response', (response) => {
        if (response.request().isNavigationRequest()) statuses.push(response.status())
      })
      const words = (key: Parameters<typeof t>[0]) => t(key).in(language)
      const heading = () => page.textContent('h1')
      // The console is an application: without scripts its page leads to the account.
      const withoutConsole = async () => {
        const link = page.locator('noscript a')
        expect(await link.textContent()).toBe(words('account.title'))
        const loaded = page.waitForEvent('load')
        await link.click()
        await loaded
      }

      await page.goto(linkIn(await mailTo(stack, email, 'invite')))
      await sendForm(page, { password: PASSWORD, confirmPassword: PASSWORD })
      expect(await heading()).toBe(words('invite.done'))
      await follow(page, words('invite.to-sign-in'))
      await withoutConsole()
      expect(await heading()).toBe(words('sign-in.title'))
      await sendForm(page, { username: email, password: PASSWORD })
      expect(await heading()).toBe(words('account.title'))
      expect(new URL(page.url()).hostname).toBe(
        adminDomain ?? `${consoleLabel(domain)}.console.localhost`,
      )
      expect(await page.textContent('main')).toContain(words('member.developer'))

      await follow(page, words('account.sign-out'))
      await sendForm(page, {})
      expect(await heading()).toBe(words('sign-out.done'))
      await follow(page, words('sign-in.submit'))
      expect(await heading()).toBe(words('sign-in.title'))
      await sendForm(page, { username: email, password: PASSWORD })
      expect(await heading()).toBe(words('account.title'))

      await follow(page, words('page.back-to-site'))
      expect(page.url()).toBe(`${stack.baseUrl(domain)}/`)
      await follow(page, words('page.administration'))
      await withoutConsole()
      expect(await heading()).toBe(words('account.title'))
      expect(new Set(statuses)).toEqual(new Set([200, 303]))
      expect(tab.complaints).toEqual([])
    },
  )
})
