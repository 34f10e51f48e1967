import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { tourPages } from '#test/page-tour.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A folder for pictures of everybody's pages, to look at. */
const PICTURES = process.env['CROFT_SCREENSHOTS']
const AUDIT = await readFile(new URL('../support/page-audit.js', import.meta.url), 'utf8')
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 320, height: 568 }
const SHAPES = [
  ['light-desktop', 'light', DESKTOP],
  ['dark-desktop', 'dark', DESKTOP],
  ['light-phone', 'light', PHONE],
  ['dark-phone', 'dark', PHONE],
] as const

const missing = chromiumMissing()

describe.skipIf(missing)(`the pages in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    stack = await startStack({ sites: ['one.test'] })
    chromium = await launchChromium()
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true })
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  test('are readable, named, large enough and calm, light and dark, wide and narrow', async () => {
    // A colour that is on its way from one scheme to the other would be neither.
    await using tab = await openTab(chromium, { reducedMotion: 'reduce' })
    const { page } = tab
    const faults: Record<string, unknown> = {}
    const seen: string[] = []
    await tourPages(stack, page, async (name) => {
      for (const [shape, colorScheme, viewport] of SHAPES) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(viewport)
        const found: unknown = await page.evaluate(AUDIT)
        if (!Array.isArray(found) || found.length > 0) faults[`${shape}-${name}`] = found
        if (PICTURES === undefined) continue
        await page.screenshot({ path: join(PICTURES, `${shape}-${name}.png`), fullPage: true })
      }
      seen.push(name)
    })
    expect(faults).toEqual({})
    expect(seen).toHaveLength(39)
    expect(tab.complaints).toEqual([])
  })

  test('would not pass with what the audit is there to find', async () => {
    await using tab = await openTab(chromium, { viewport: PHONE })
    await tab.page.setContent(
      `<title>Bad</title><h1 style="color: #999; width: 400px">Bad</h1>
       <main><input id="x" aria-invalid="true"><a href="/">.</a><button></button><svg></svg></main>`,
    )
    const found = (await tab.page.evaluate(AUDIT)) as string[]
    const kinds = found.map((fault) => fault.replace(/:.*/s, '').replaceAll(/[\d.]+/g, 'N'))
    expect([...new Set(kinds)].sort()).toEqual([
      'N px wider than the window',
      'N × N px to hit',
      'N × [style], not N',
      'a phone would zoom in',
      'no autocomplete',
      'no name',
      'no reason',
      'no visible label',
      'outside every landmark',
      'the page has no language',
    ])
    await tab.page.setContent(
      '<main><p>Fine</p><p>Pale</p></main>' +
        '<style>main { background: #fff; color: #767676 } p + p { color: #777 }</style>',
    )
    const contrast = ((await tab.page.evaluate(AUDIT)) as string[]).filter((fault) =>
      fault.startsWith('contrast'),
    )
    expect(contrast).toEqual([expect.stringMatching(/^contrast 4\.48, not 4\.5: <p>Pale/)])
  })
})
