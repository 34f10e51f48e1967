import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { DOT, tourPages } from '#test/page-tour.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A folder for pictures of all pages, to look at. */
const PICTURES = process.env['CROFT_SCREENSHOTS']
const AUDIT = await readFile(new URL('../support/page-audit.js', import.meta.url), 'utf8')
/** What axe (MPL-2.0, for tests alone) finds wrong, as the rule and the elements that break it. */
const AXE = `axe.run(document).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 320, height: 568 }
const SHAPES = [
  ['light-desktop', 'light', DESKTOP],
  ['dark-desktop', 'dark', DESKTOP],
  ['light-phone', 'light', PHONE],
  ['dark-phone', 'dark', PHONE],
] as const

/** All texts of a page, visible or for screen readers, except for the lines to developers that say that they are English. */
const TEXTS = `(() => {
  const nodes = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT)
  const texts = [document.title]
  while (nodes.nextNode()) {
    if (!nodes.currentNode.parentElement.closest('style, script, .reference [lang="en"]')) texts.push(nodes.currentNode.data)
  }
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      if (/^(aria-label|alt|title|placeholder|data-show|data-hide)$/.test(name)) texts.push(value)
    }
  }
  return texts.map((text) => text.trim())
})()`

/** Names, commands, and words that both languages have. */
const SAME_IN_GERMAN = [
  'Code',
  'Name',
  'Passkeys',
  'The Helpdesk of Wolfeschlegelsteinhausenbergerdorff & Sons',
  'Wolfeschlegelsteinhausenbergerdorff Jr.',
  'croft',
  'croft mailbox credential create',
  'croft-sdk',
]

/** Words, and no address, domain, code or key. */
const isProse = (text: string): boolean =>
  /\p{L}{3}/u.test(text) && !/[@/]|\.test\b/.test(text) && !/^[A-Z0-9 _-]+$/.test(text)

const missing = chromiumMissing()

describe.skipIf(missing)(`the pages in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  const brand = async (domain: string, branding: Readonly<Record<string, string>>) => {
    const answer = await stack.portal('PUT', `/sites/${domain}/page-branding`, branding)
    if (answer.status !== 200) throw new Error(`Not branded: ${answer.status} ${answer.text}`)
  }
  const texts = { en: new Map<string, string[]>(), de: new Map<string, string[]>() }
  beforeAll(async () => {
    stack = await startStack({ sites: ['one.test', 'two.test'] })
    await brand('two.test', { color: '#ffe600', logo: DOT })
    chromium = await launchChromium()
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true })
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  test.each([
    ['English', 'en', 'one.test'],
    ['German', 'de', 'two.test'],
  ] as const)(
    'are readable, named, large enough and calm, light and dark, wide and narrow, in %s',
    async (_name, language, domain) => {
      // A colour that is on its way from one scheme to the other would be neither.
      await using tab = await openTab(chromium, { reducedMotion: 'reduce', locale: language })
      const { page } = tab
      const faults: Record<string, unknown> = {}
      const look = async (name: string): Promise<void> => {
        await page.evaluate(axe.source)
        for (const [shape, colorScheme, viewport] of SHAPES) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize(viewport)
          const found = [
            ...((await page.evaluate(AUDIT)) as string[]),
            ...((await page.evaluate(AXE)) as string[]),
          ]
          if (found.length > 0) faults[`${shape}-${name}`] = found
          if (PICTURES === undefined) continue
          const path = join(PICTURES, `${language}-${shape}-${name}.png`)
          await page.screenshot({ path, fullPage: true })
        }
        texts[language].set(name, (await page.evaluate(TEXTS)) as string[])
      }
      await tourPages(stack, { page, domain, language, look })
      expect(faults).toEqual({})
      expect([...texts[language].keys()]).toHaveLength(49)
      expect(tab.complaints).toEqual([])
    },
  )

  test('say nothing in English to a reader of German', () => {
    const left = new Set<string>()
    for (const [name, english] of texts.en) {
      const german = new Set(texts.de.get(name))
      for (const text of english) if (german.has(text) && isProse(text)) left.add(text)
    }
    expect([...left].sort()).toEqual(SAME_IN_GERMAN)
  })

  test.each([
    '#ffffff',
    '#000000',
    '#7f7f7f',
    '#ff0000',
    '#00ff00',
    '#0000ff',
    '#f5f5dc',
    '#e91e63',
  ])('can be read in %s', async (color) => {
    await brand('one.test', { color })
    await using tab = await openTab(chromium, { reducedMotion: 'reduce' })
    const { page } = tab
    const client = await RelyingParty.of(stack, 'one.test')
    await page.goto(stack.baseUrl('one.test') + client.page('login'))
    const found: unknown[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      found.push(await page.evaluate(AUDIT))
      await page.hover('button.button')
      found.push(await page.evaluate(AUDIT))
    }
    expect(found).toEqual([[], [], [], []])
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
