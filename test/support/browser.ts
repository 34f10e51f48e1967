import { existsSync } from 'node:fs'

import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core'

const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** Why browser tests cannot run here, or undefined. In CI that is a failure, not a skip. */
export function chromiumMissing(): string | undefined {
  if (existsSync(EXECUTABLE)) return undefined
  const why = `The browser tests need "${EXECUTABLE}", or CHROMIUM_PATH to say where Chromium is`
  if (process.env['CI']) throw new Error(why)
  return why
}

/**
 * Real Chromium in which every `*.test` name is this machine; on that port whatever the address says, if one is given. It takes
 * certificates of the key with that hash as good ones.
 */
export const launchChromium = (port?: number, trustedKeyHash?: string): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      ...(trustedKeyHash === undefined
        ? []
        : [`--ignore-certificate-errors-spki-list=${trustedKeyHash}`]),
      // Nothing here is drawn by a graphics card: a process for one costs a quarter of every page.
      '--disable-gpu',
      '--disable-gpu-compositing',
      '--disable-software-rasterizer',
      '--in-process-gpu',
      // A process for each site, started again with each navigation between sites, costs a third of every page.
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
      `--host-resolver-rules=${['*.test', '*.localhost'].map((names) => `MAP ${names} 127.0.0.1${port === undefined ? '' : `:${port}`}`).join(', ')}`,
    ],
  })

/** A fresh profile and a page in it. Keeps the errors of its console, except for the page's own status. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource: the server responded')
    if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

export interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly complaints: readonly string[]
}

/** Fills in and sends the form of a page, and waits for the next page. */
export async function sendForm(
  page: Page,
  fields: Readonly<Record<string, string>>,
  button = 'main form button.button',
): Promise<void> {
  for (const [id, value] of Object.entries(fields)) await page.fill(`#${id}`, value)
  const loaded = page.waitForEvent('load')
  await page.click(button)
  await loaded
}

/** Clicks on what carries these words, and waits for the page that it leads to. */
export async function follow(page: Page, words: string): Promise<void> {
  const loaded = page.waitForEvent('load')
  await page.click(`text=${words}`)
  await loaded
}
