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

/** Real Chromium in which every `*.test` name is this machine. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', '--host-resolver-rules=MAP *.test 127.0.0.1'],
  })

/** A fresh profile and a page in it. Whatever the page complains of is kept: a calm page complains of nothing. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

export interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly complaints: readonly string[]
}
