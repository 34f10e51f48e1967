import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { builtConsole } from '#platform/console/built-console.ts'
import { chromiumMissing, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const DOMAIN = 'club.localhost'
const ADMIN_DOMAIN = 'admin.club.localhost'
const ORIGIN = `http://${ADMIN_DOMAIN}`
const ANN = `ann@${DOMAIN}`
const BOB = `bob@${DOMAIN}`
const PASSWORD = 'Correct-horse-7'
const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

const missing = chromiumMissing()

describe.skipIf(missing)(
  `the people of a site in the console in Chromium${missing ? ` (${missing})` : ''}`,
  () => {
    const resources = new AsyncDisposableStack()
    let stack: Stack
    let chromium: Browser
    beforeAll(async () => {
      stack = resources.use(
        await startStack({
          sites: [],
          config: { baseUrl: 'http://localhost' },
          platform: { openConsole: () => builtConsole() },
        }),
      )
      await stack.createSite({ domain: DOMAIN, adminDomain: ADMIN_DOMAIN, superAdmins: [ANN] })
      chromium = await launchChromium(stack.port)
      resources.defer(() => chromium.close())
    })
    afterAll(() => resources.disposeAsync())

    /** Signs in where the console asks for it. */
    async function signIn(page: Page, path: string): Promise<void> {
      await page.goto(ORIGIN + path)
      await page.waitForSelector('#username')
      await page.fill('#username', ANN)
      await page.fill('#password', PASSWORD)
      await page.click('main form button.button')
    }
    const heading = (page: Page, name: string) =>
      page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

    test('takes an admin from the invite mail to the place that was asked for', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await page.goto(linkIn(await mailTo(stack, ANN, 'invite')))
      await sendForm(page, { password: PASSWORD, confirmPassword: PASSWORD })
      await signIn(page, '/people/admins?q=ann')
      await heading(page, 'Admins')
      expect(page.url()).toBe(`${ORIGIN}/people/admins?q=ann`)
      await page.getByRole('link', { name: `${ANN} (you)` }).waitFor()

      // A reload has no token, and asks the person nothing.
      await page.reload()
      await page.getByRole('link', { name: `${ANN} (you)` }).waitFor()
      expect(page.url()).toBe(`${ORIGIN}/people/admins?q=ann`)
      const kept = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      )
      expect(kept).not.toMatch(/eyJ/)
      expect(tab.complaints).toEqual([])
    })

    test('invites a person, changes the role, and deletes the account', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await signIn(page, '/people/admins')
      await heading(page, 'Admins')
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('Email address').fill(BOB)
      await page.getByRole('button', { name: 'Send the invite', exact: true }).click()
      await page.getByRole('link', { name: BOB }).waitFor()
      await mailTo(stack, BOB, 'invite')

      // What the API says is shown at the field that it names.
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.evaluate(`document.querySelector('dialog form').noValidate = true`)
      await page.getByLabel('Email address').fill('bob@')
      await page.getByRole('button', { name: 'Send the invite', exact: true }).click()
      await page.locator('input[name=email][aria-invalid=true]').waitFor()
      await page.keyboard.press('Escape')

      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('bob')
      await page.getByRole('option', { name: BOB }).waitFor()
      await page.keyboard.press('Enter')
      await heading(page, BOB)
      expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
      await page.getByLabel('Role', { exact: true }).selectOption('user')
      await page.getByRole('button', { name: 'Save the role' }).click()
      await page.getByText(`The role of ${BOB} is changed`).waitFor()
      const users = async () => {
        const { json } = await stack.portal('GET', `/sites/${DOMAIN}/admin-users`)
        const { items } = json as {
          items: readonly { readonly email: string; readonly role: string }[]
        }
        return Object.fromEntries(items.map(({ email, role }) => [email, role]))
      }
      expect(await users()).toEqual({ [ANN]: 'super-admin', [BOB]: 'user' })

      await page.getByRole('button', { name: 'Delete the admin' }).click()
      const dialog = page.getByRole('dialog')
      const confirm = dialog.getByRole('button', { name: 'Delete the admin' })
      expect(await confirm.isDisabled()).toBe(true)
      await dialog.getByRole('textbox').fill(BOB)
      await confirm.click()
      await heading(page, 'Admins')
      await expect.poll(users).toEqual({ [ANN]: 'super-admin' })
      await page.goBack()
      await heading(page, 'Admins')
      expect(tab.complaints).toEqual([])
    })

    test('signs out, and then asks for the password', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await signIn(page, '/')
      await heading(page, DOMAIN)
      await page.getByRole('button', { name: 'Account', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.waitForSelector('#username')
      expect(tab.complaints).toEqual([])
    })

    describe.each(['light', 'dark'] as const)('in %s colors', (colorScheme) => {
      test.each([
        [1280, 'en'],
        [1280, 'de'],
        [360, 'en'],
        [360, 'de'],
      ])('has no fault that axe finds, %i pixels wide, in %s', async (width, locale) => {
        await using tab = await openTab(chromium, {
          colorScheme,
          locale,
          viewport: { width, height: 800 },
        })
        const { page } = tab
        const axe = await readFile(AXE, 'utf8')
        await signIn(page, '/')
        await page.evaluate(`localStorage.setItem('croft-language', '${locale}')`)
        for (const path of ['/', '/people/admins', '/nowhere']) {
          await page.goto(ORIGIN + path)
          await page.locator(`html[lang=${locale}] main :is(h1, h2)`).first().waitFor()
          await page.locator('.skeleton').first().waitFor({ state: 'detached' })
          const { violations } = await page.evaluate<AxeResults>(`${axe}; axe.run(document)`)
          const faults = violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`,
          )
          expect(faults, path).toEqual([])
          const overflow =
            'document.documentElement.scrollWidth - document.documentElement.clientWidth'
          expect(await page.evaluate(overflow), path).toBe(0)
        }
        expect(tab.complaints).toEqual([])
      })
    })
  },
)
