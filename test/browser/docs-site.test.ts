import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { docsSite } from '#scripts/docs/docs-site.ts'
import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'

const missing = chromiumMissing()

/** Opened from a folder: what works there works from any web server. */
describe.skipIf(missing)(
  `the site of the documentation in Chromium${missing ? ` (${missing})` : ''}`,
  () => {
    let chromium: Browser
    let folder: string
    beforeAll(async () => {
      chromium = await launchChromium()
      folder = await mkdtemp(join(tmpdir(), 'croft-docs-'))
      for (const [path, text] of await docsSite(resolve(import.meta.dirname, '../..'))) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    })
    afterAll(async () => {
      await chromium.close()
      await rm(folder, { recursive: true })
    })
    const address = (path: string): string => pathToFileURL(join(folder, path)).href

    test('finds a section by a word, and opens it at its heading', async () => {
      await using tab = await openTab(chromium)
      await tab.page.goto(address('docs/index.html'))
      await tab.page.keyboard.press('/')
      await tab.page.keyboard.type('forwarding target')
      await tab.page.waitForSelector('#results [role=option]')
      await tab.page.keyboard.press('Enter')
      await tab.page.waitForURL(/#.*forward/)
      const heading = decodeURIComponent(new URL(tab.page.url()).hash)
      expect(await tab.page.locator(heading.replaceAll(/[^\w#-]/g, String.raw`\$&`)).count()).toBe(
        1,
      )
      expect(tab.complaints).toEqual([])
    })

    test('says so where nothing is found', async () => {
      await using tab = await openTab(chromium)
      await tab.page.goto(address('index.html'))
      await tab.page.fill('#search', 'xylophone quartet')
      await tab.page.waitForSelector('#results .none')
      await tab.page.keyboard.press('Escape')
      expect(await tab.page.isVisible('#results')).toBe(false)
    })

    test('leads from page to page, with each link of the sidebar', async () => {
      await using tab = await openTab(chromium)
      await tab.page.goto(address('index.html'))
      const pages = await tab.page.locator('.sidebar a').evaluateAll((links) => links.map(String))
      expect(pages.length).toBeGreaterThan(40)
      for (const page of pages) {
        await tab.page.goto(page)
        expect(await tab.page.locator('h1').count(), page).toBe(1)
      }
      expect(tab.complaints).toEqual([])
    })

    test('fits a phone, with its longest tables', async () => {
      await using tab = await openTab(chromium, { viewport: { width: 360, height: 740 } })
      for (const path of [
        'index.html',
        'docs/reference/limits.html',
        'docs/reference/http-site.html',
      ]) {
        await tab.page.goto(address(path))
        const width = await tab.page.evaluate('document.documentElement.scrollWidth')
        expect(width, path).toBe(360)
        expect(await tab.page.isVisible('.sidebar nav')).toBe(false)
      }
    })
  },
)
