import { createServer, type Server } from 'node:http'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { HTML_PAYLOADS } from '#corpus/html-payloads.ts'
import { sanitizedHtml } from '#sandbox/mail/sanitized-html.ts'
import { chromiumMissing, launchChromium } from '#test/browser.ts'

/** A page as it may show mail: a box that cuts off what is too wide, and something beside it that must not be covered. */
const PAGE = `<!doctype html><title>mail</title>
<p id="outside">outside</p>
<div id="box" style="overflow:auto;width:600px;height:300px"></div>
<iframe id="frame" style="width:600px;height:200px"></iframe>
<script>hits = 0; hit = () => { hits += 1 }</script>`

/** Runs in the page; text, because its types are those of a browser. */
const SHOW = `async (html) => {
  const box = document.getElementById('box')
  const frame = document.getElementById('frame')
  box.innerHTML = html
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }))
  frame.srcdoc = '<!doctype html><script>hit = () => parent.hit()</script><body>' + html
  await loaded
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})))
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const outside = document.getElementById('outside')
  const { left, top } = outside.getBoundingClientRect()
  return {
    hits: window.hits,
    isCovered: document.elementFromPoint(left + 5, top + 5) !== outside,
    links: [...box.querySelectorAll('a[href], [action], [formaction]')].map(({ protocol }) => protocol),
    named: box.querySelectorAll('[id], [name], [class]').length,
  }
}`

interface Found {
  readonly hits: number
  readonly isCovered: boolean
  /** Where its links lead: the protocols. */
  readonly links: readonly string[]
  /** Elements with a name that a page's own scripts could meet. */
  readonly named: number
}

const missing = chromiumMissing()

describe.skipIf(missing)(`HTML of mail in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let server: Server
  let chromium: Browser
  let page: Page
  let host: string
  let fetched: string[] = []
  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      if (url === '/page') response.setHeader('content-type', 'text/html').end(PAGE)
      else response.end()
      if (url !== '/page' && url !== '/favicon.ico') fetched.push(url)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    host = `127.0.0.1:${address.port}`
    chromium = await launchChromium()
    page = await chromium.newPage()
  })
  afterAll(async () => {
    await chromium.close()
    server.close()
  })

  test('runs and fetches where it is not sanitised', async () => {
    expect(await shown('<img src="//HOST/a.png" onload=hit() onerror=hit()>')).toMatchObject({
      hits: 2,
      fetched: expect.arrayContaining(['/a.png']),
    })
    const cover = '<div style="position:fixed;inset:0;background:red">x</div>'
    expect(await shown(cover)).toMatchObject({ isCovered: true })
    expect(await shown('<a href="javascript:hit()">x</a>')).toMatchObject({
      links: ['javascript:'],
    })
  })

  test('is tried with at least eighty payloads', () => {
    expect(new Set(HTML_PAYLOADS).size).toBeGreaterThanOrEqual(80)
  })

  test.each(HTML_PAYLOADS)('runs, fetches and covers nothing: %j', async (payload) => {
    const { links, ...rest } = await shown(sanitizedHtml(payload.replaceAll('HOST', host)))
    expect(rest).toEqual({ hits: 0, fetched: [], isCovered: false, named: 0 })
    for (const protocol of links) expect(['http:', 'https:', 'mailto:']).toContain(protocol)
  })

  /** The result of HTML as part of a page and as a document in a frame. */
  async function shown(html: string) {
    await page.goto(`http://${host}/page`)
    fetched = []
    const found = await page.evaluate<Found>(
      `(${SHOW})(${JSON.stringify(html.replaceAll('HOST', host))})`,
    )
    return { ...found, fetched }
  }
})
