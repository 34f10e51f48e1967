import fc from 'fast-check'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { sanitizedHtml } from '#sandbox/mail/sanitized-html.ts'
import { chromiumMissing, launchChromium } from '#test/browser.ts'

const READABLE = 4.5

/** Runs in the page; text, because its types are those of a browser. Gives the colors of each text that can be seen. */
const COLORS = `(html) => {
  const box = document.getElementById('box')
  box.innerHTML = html
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (color !== 'rgba(0, 0, 0, 0)') return color
    }
    return 'none'
  }
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
  const seen = []
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    const words = walker.currentNode.data.trim()
    if (words === '' || !element.checkVisibility()) continue
    seen.push({ words, textColor: getComputedStyle(element).color, background: backgroundOf(element) })
  }
  return seen
}`

interface SeenText {
  readonly words: string
  readonly textColor: string
  readonly background: string
}

const CASES: readonly (readonly [what: string, html: string])[] = [
  ['plain words', '<p>plain</p>'],
  ['a link', '<p><a href="https://a.test/">link</a></p>'],
  [
    'a dark cell',
    '<table><tr><td style="background:#111;color:#fff">cell <a href="https://a.test/">link</a></td></tr></table>',
  ],
  [
    'a dark cell of attributes',
    '<table bgcolor=#111111><tr><td><font color=white>cell</font> rest</td></tr></table>',
  ],
  ['a dark page', '<body bgcolor=black text=white>page <a href="https://a.test/">link</a></body>'],
  ['a dark page without a color', '<body style="background:#000">page <b>bold</b></body>'],
  ['white words alone', '<h1 class="hero" style="color:#fff">words</h1>'],
  [
    'white words on a picture',
    '<div style="background:url(//x.test/a.png) no-repeat;color:#fff">words</div>',
  ],
  ['black words alone', '<p style="color:#000">words</p> rest'],
  ['gray words', '<p style="color:#999">words</p>'],
  [
    'light background alone',
    '<p style="background:#eee">words <a href="https://a.test/">link</a></p>',
  ],
  ['a color beside words without one', '<p>plain</p><p style="color:#333">words</p>'],
  ['a marked word', '<p style="color:#eee;background:#222">a <mark>b</mark></p>'],
]

const missing = chromiumMissing()

describe.skipIf(missing)(`colors of mail in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let chromium: Browser
  let page: Page
  beforeAll(async () => {
    chromium = await launchChromium()
    page = await chromium.newPage()
  })
  afterAll(() => chromium.close())

  describe.each([
    ['light', '#ffffff', '#111111'],
    ['dark', '#121212', '#eeeeee'],
  ])('in a %s page', (scheme, background, textColor) => {
    beforeAll(() =>
      page.setContent(
        `<!doctype html><body style="color-scheme:${scheme};background-color:${background};color:${textColor}"><div id="box"></div>`,
      ),
    )

    test.each(CASES)('can be read: %s', async (_, html) => {
      const seen = await seenIn(sanitizedHtml(html))
      expect(seen.length).toBeGreaterThan(0)
      for (const text of seen)
        expect(contrastOf(text), JSON.stringify(text)).toBeGreaterThanOrEqual(READABLE)
    })

    test('can be read whatever they are, but where the sender named both colors', async () => {
      const color = fc.constantFrom(
        '#010101',
        '#fefefe',
        '#777777',
        'red',
        '#ff6600',
        'rgb(20,40,80)',
      )
      const style = fc.oneof(
        fc.constant(''),
        color.map((one) => `color:${one}`),
        color.map((one) => `background:${one}`),
        fc.tuple(color, color).map(([one, other]) => `color:${one};background-color:${other}`),
      )
      const { tree } = fc.letrec<{ tree: string }>((tie) => ({
        tree: fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom('words', '<a href="https://a.test/">link</a>'),
          fc
            .tuple(
              fc.constantFrom('div', 'span', 'font'),
              style,
              fc.array(tie('tree'), { maxLength: 3 }),
            )
            .map(
              ([name, value, children]) =>
                `<${name} style="${value}">x${children.join('')}</${name}>`,
            ),
        ),
      }))
      await fc.assert(
        fc.asyncProperty(tree, async (html) => {
          for (const text of await seenIn(sanitizedHtml(html))) {
            const isOwn = [text.textColor, text.background].every((one) => OWN.has(one))
            const least = isOwn ? 1 : READABLE
            expect(contrastOf(text), `${JSON.stringify(text)} ${html}`).toBeGreaterThanOrEqual(
              least,
            )
          }
        }),
        { numRuns: 100 },
      )
    })
  })

  const seenIn = (html: string): Promise<SeenText[]> =>
    page.evaluate<SeenText[]>(`(${COLORS})(${JSON.stringify(html)})`)
})

/** As browsers compute them. */
const OWN = new Set([
  'rgb(1, 1, 1)',
  'rgb(254, 254, 254)',
  'rgb(119, 119, 119)',
  'rgb(255, 0, 0)',
  'rgb(255, 102, 0)',
  'rgb(20, 40, 80)',
])

/** WCAG 2.2, contrast ratio, by the formula there and no code of ours. */
function contrastOf({ textColor, background }: SeenText): number {
  const [dark = 0, light = 0] = [luminance(textColor), luminance(background)].toSorted(
    (a, b) => a - b,
  )
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [, ...channels] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color) ?? []
  if (channels.length !== 3) throw new Error(`"${color}" is no opaque color`)
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
    const part = Number(channel) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
