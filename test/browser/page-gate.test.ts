import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { BROWSER_PLACES, type BrowserSites, startBrowserSites } from '#test/browser-sites.ts'
import { type Tab, chromiumMissing, openTab } from '#test/browser.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { holdSignIn } from '#test/signed-in-browser.ts'
import type { Stack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'

/** Reads each navigation that it controls, and hands it on. */
const workerOf = (preloads: boolean) => `
  self.addEventListener('install', () => self.skipWaiting())
  self.addEventListener('activate', (event) => event.waitUntil((async () => {
    if (${preloads}) await self.registration.navigationPreload.enable()
    await self.clients.claim()
  })()))
  self.addEventListener('fetch', (event) => {
    if (event.request.mode !== 'navigate') return
    event.respondWith((async () => {
      const response = (await event.preloadResponse) ?? (await fetch(event.request))
      const text = await response.clone().text()
      const all = await self.clients.matchAll({ includeUncontrolled: true })
      for (const client of all) client.postMessage(text)
      return response
    })())
  })`
const HTML = '<!doctype html><title>A page of the site</title>'
const FILES = {
  'hostile.html': HTML,
  // The site may have reasons of its own to say so, and its pages are on the origin of the sign-in.
  'isolated.html': HTML,
  _headers: ['/isolated', '/isolated.html']
    .map((path) => `${path}\n  Cross-Origin-Opener-Policy: same-origin\n`)
    .join(''),
  'worker.js': workerOf(false),
  'preloading-worker.js': workerOf(true),
}
const PAGES = ['account', 'account/passkey', 'account/password', 'account/delete'] as const
const SECRET = '_csrf'

const missing = chromiumMissing()

describe.skipIf(missing).each(BROWSER_PLACES)('a script of the site, $scheme', (place) => {
  const { scheme, shared, apart } = place
  let sites: BrowserSites
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    sites = await startBrowserSites(place)
    ;({ stack, chromium } = sites)
    const desk = new StaticDesk(stack, new DeployDesk(stack))
    for (const host of [shared, apart]) await desk.deploy(host, FILES)
  })
  afterAll(() => sites[Symbol.asyncDispose]())

  interface Victim {
    readonly tab: Tab
    readonly party: RelyingParty
    readonly sub: string
  }

  /** A browser that is signed in, on a page of the site. */
  async function victim(host: string, kind: PoolKind, page = 'hostile'): Promise<Victim> {
    const party = await RelyingParty.of(stack, host, kind)
    const sub = await party.user(kind === 'admin' ? `ann@${host}` : 'vic@example.org')
    const tab = await openTab(chromium)
    await holdSignIn(tab.page, party, await party.signIn(sub))
    await tab.page.goto(`${scheme}://${host}/${page}.html`)
    return { tab, party, sub }
  }

  const pageOf = ({ party }: Victim, name: string) => `${party.pool.issuer}/${name}`

  describe.each([
    ['that has the origin of the sign-in', shared],
    ['whose sign-ins have origins of their own', apart],
  ])('%s', (_where, host) => {
    describe.each(['admin', 'data'] as const)('at the %s pool', (kind) => {
      test('fetches no page of an account', async () => {
        const who = await victim(host, kind)
        await using _ = who.tab
        for (const name of [...PAGES, 'account/export']) {
          const read = await fetched(who.tab.page, pageOf(who, name))
          expect(read.status, name).toBe(host === shared ? 403 : 'TypeError')
          expect(read.text, name).not.toMatch(/_csrf|challenge|example\.org|ann@/)
        }
      })

      test('posts none of its forms', async () => {
        const who = await victim(host, kind)
        await using _ = who.tab
        for (const name of [...PAGES.slice(1), 'login', 'mfa', 'consent', 'logout']) {
          const { status } = await fetched(who.tab.page, pageOf(who, name), 'POST')
          expect(status, name).toBe(host === shared ? 403 : 'TypeError')
        }
        expect(
          await stack.context.sessions.list(who.party.site, who.party.pool, who.sub),
        ).not.toEqual([])
      })

      test('reads none in a frame', async () => {
        const who = await victim(host, kind)
        await using _ = who.tab
        for (const name of PAGES) {
          expect(await framed(who.tab.page, pageOf(who, name)), name).not.toContain(SECRET)
        }
      })

      test.each(['hostile', 'isolated'])(
        'reads none in a window, from the page %s',
        async (page) => {
          const who = await victim(host, kind, page)
          await using _ = who.tab
          for (const name of PAGES) {
            const opened = who.tab.page.context().waitForEvent('page')
            const read = windowed(who.tab.page, pageOf(who, name))
            const popup = await opened
            expect(await read, name).toEqual({ closed: true, seen: false })
            await expect.poll(() => popup.content(), { message: name }).toContain(SECRET)
            await popup.close()
          }
        },
      )

      test.each(['worker', 'preloading-worker'])('reads none as a service %s', async (name) => {
        const who = await victim(host, kind)
        await using _ = who.tab
        const { page } = who.tab
        await page.evaluate(registered, `/${name}.js`)
        const visit = await page.context().newPage()
        await visit.goto(`${scheme}://${host}/isolated.html`)
        await visit.goto(pageOf(who, 'account/passkey'))
        const told = await page.evaluate<readonly string[]>('globalThis.told')
        expect(told.some((text) => text.includes('A page of the site'))).toBe(true)
        expect(told.filter((text) => text.includes(SECRET))).toEqual([])
        const shown = (await visit.textContent('main')) ?? ''
        expect(shown).toContain(host === shared ? 'This page opens only by a link' : 'passkey')
      })

      test('sends its user there, who sees it and takes their data along', async () => {
        const who = await victim(host, kind)
        await using _ = who.tab
        const { page } = who.tab
        await page.evaluate(`void (location.href = ${JSON.stringify(pageOf(who, 'account'))})`)
        await page.waitForURL(/\/account$/)
        expect(await page.textContent('h1')).toBe('Your account')
        const download = page.waitForEvent('download')
        await page.click('a[href$="/account/export"]')
        expect((await download).suggestedFilename()).toBe('account.json')
        expect(await (await download).failure()).toBeNull()
      })
    })
  })
})

/** What a script reads of a page. */
const fetched = (
  page: Page,
  url: string,
  method = 'GET',
): Promise<{ status: number | string; text: string }> =>
  page.evaluate(
    async ([address = '', how = '']) => {
      const body = how === 'POST' ? new URLSearchParams({ a: 'b' }) : null
      const options = { method: how, body, credentials: 'include', redirect: 'manual' } as const
      try {
        const response = await fetch(address, options)
        return { status: response.status, text: await response.text() }
      } catch (error) {
        return { status: (error as Error).name, text: '' }
      }
    },
    [url, method],
  )

/** What a page reads in a frame of its own. */
const framed = (page: Page, url: string): Promise<string> =>
  page.evaluate<string>(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.addEventListener('load', () => {
      try {
        resolve(frame.contentDocument?.documentElement.outerHTML ?? '')
      } catch (error) {
        resolve(error.name)
      }
    })
    frame.src = ${JSON.stringify(url)}
    document.body.append(frame)
  })`)

/** What a page reads in a window that it opens, until that is out of its reach. */
const windowed = (page: Page, url: string): Promise<{ closed: boolean; seen: boolean }> =>
  page.evaluate(`new Promise((resolve) => {
    const opened = window.open(${JSON.stringify(url)})
    let seen = false
    const end = Date.now() + 5000
    const look = () => {
      try {
        seen ||= opened.document.documentElement.outerHTML.includes(${JSON.stringify(SECRET)})
      } catch {}
      if (opened.closed || seen || Date.now() > end) resolve({ closed: opened.closed, seen })
      else setTimeout(look, 5)
    }
    look()
  })`)

/** In the page: a worker that controls the site, and what it tells. */
async function registered(script: string): Promise<void> {
  const { serviceWorker } = globalThis.navigator as unknown as {
    serviceWorker: EventTarget & {
      register(path: string): Promise<unknown>
      ready: Promise<unknown>
      controller: unknown
    }
  }
  const told: string[] = []
  Object.assign(globalThis, { told })
  serviceWorker.addEventListener('message', (event) => {
    told.push(String((event as MessageEvent).data))
  })
  const controlled = new Promise((resolve) => {
    serviceWorker.addEventListener('controllerchange', resolve)
  })
  await serviceWorker.register(script)
  await serviceWorker.ready
  if (!serviceWorker.controller) await controlled
}
