import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DiskSpace } from '#platform/disk/disk-space.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE, StaticDesk } from '#test/static-sites.ts'

const HOST = 'one.test'
const OPERATION = `export default { async fetch(request, ctx) {
  const kind = new URL(request.url).pathname.split('/').at(-1)
  if (kind === 'put') await ctx.table('notes').put({ item: { id: 'a' } })
  if (kind === 'refuse') throw { statusCode: 403, code: 'NotYours', message: 'Only guests of the house' }
  if (kind === 'slow') throw { statusCode: 429, code: 'Slowly', message: 'One order at a time' }
  throw new Error('a secret of the code')
} }`
const BROWSER = { ...PAGE, 'accept-language': 'de-AT,de;q=0.9' }
const SCRIPT = { ...PAGE, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

const cleanUp = new AsyncDisposableStack()
let freeBytes = 1000
let disk: DiskSpace
let stack: Stack
let statics: StaticDesk
beforeAll(async () => {
  disk = cleanUp.use(
    await DiskSpace.open({
      places: { folder: '/', database: '/', objects: '/' },
      reserveBytes: 100,
      log: silentLog,
      freeSpace: async () => ({ freeBytes, totalBytes: 10_000 }),
    }),
  )
  stack = cleanUp.use(await startStack({ sites: [HOST, 'two.test'], platform: { disk } }))
  statics = new StaticDesk(stack, new DeployDesk(stack))
  const site = await RuntimeSite.open(stack, HOST)
  const { resourceId } = await SiteTable.create(site, 'notes', {
    partitionKey: { name: 'id', type: 'S' },
  })
  const resources = [{ resourceId, access: 'readWrite' }]
  const lambdaResourceId = await site.putFunction('op', OPERATION, { resources })
  await site.putOperation('op', { lambdaResourceId, http: true, auth: { mode: 'public' } })
  await site.synced()
  await stack.portal('PUT', `/sites/${HOST}/page-branding`, { color: '#0a7d55' })
})
afterAll(() => cleanUp.disposeAsync())

const asked = (path: string, headers: Readonly<Record<string, string>>, host = HOST) =>
  stack.call(host, 'GET', path, { headers })
const guesses = async (headers: Readonly<Record<string, string>>): Promise<Answer> => {
  for (let tries = 0; ; tries++) {
    const path = '/admin/public/forwarding/verify?token=nope&mailbox=a@one.test&target=b@c.test'
    const answer = await asked(path, headers)
    if (answer.status === 429 || tries === 500) return answer
  }
}

/** By status: how one comes to it, and its title. */
const ERRORS = [
  ['401 of a route for admins', '/admin/api/users', 401, 'Hier müssen Sie angemeldet sein'],
  ['403 of a signed address', '/objects/x?sig=x', 403, 'Das können Sie nicht öffnen'],
  ['403 of site code', '/data/public/op/refuse', 403, 'Das können Sie nicht öffnen'],
  ['404 of the site', '/nowhere', 404, 'Hier gibt es nichts'],
  ['404 of the administration', '/admin/nowhere', 404, 'Hier gibt es nichts'],
  ['405 of an operation', '/data/public/nothing', 405, 'Das hat nicht geklappt'],
  ['404 of the sign-in', '/oidc/none/account', 404, 'Hier gibt es nichts'],
  ['404 of a repository', '/site.git/x', 404, 'Hier gibt es nichts'],
  ['405', '/admin/public/contact', 405, 'Das hat nicht geklappt'],
  ['429 of site code', '/data/public/op/slow', 429, 'Bitte warten Sie einen Moment'],
  ['500', '/data/public/op/fail', 500, 'Etwas ist schiefgegangen'],
] as const

const isPage = (answer: Answer, status: number): void => {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-language': 'de',
    'content-security-policy': expect.stringContaining("default-src 'none'; style-src 'sha256-"),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    vary: 'accept, accept-language',
    'x-request-id': expect.stringMatching(/-/),
  })
  expect(answer.text).toContain('<html lang="de">')
  expect(textOf(answer.text)).toContain(answer.headers['x-request-id'])
  expect(answer.text).not.toContain('m5 12.5 4.5 4.5L19 7.5')
}

describe('a person who goes to a page', () => {
  test.each(ERRORS)('meets one for a %s, in their language', async (_what, path, status, title) => {
    const answer = await asked(path, BROWSER)
    isPage(answer, status)
    expect(textOf(answer.text)).toContain(title)
    expect(answer.text).toContain('--button:#0a7d55')
    expect(answer.text).not.toContain('a secret of the code')
  })

  test.each(ERRORS)('has its head alone for HEAD, at a %s', async (_what, path) => {
    const page = await asked(path, BROWSER)
    const head = await stack.call(HOST, 'HEAD', path, { headers: BROWSER })
    expect([head.status, head.text]).toEqual([page.status, ''])
    expect(head.headers['content-type']).toBe(page.headers['content-type'])
  })

  test('reads what site code says to its callers', async () => {
    const { text } = await asked('/data/public/op/refuse', BROWSER)
    expect(textOf(text)).toContain('Only guests of the house.')
    expect(textOf(text)).toContain('Fehlercode: NotYours')
  })

  test('meets a reason as what it is: English, for developers', async () => {
    const { text } = await asked('/admin/public/contact', BROWSER)
    expect(textOf(text)).toMatch(/Für die Entwicklung \(auf Englisch\): \w/)
    expect(text).toMatch(/<span lang="en">[^<]+<\/span>/)
    expect(textOf(text)).not.toContain('Grund:')
  })

  test('reads in words how long to wait, and can try again', async () => {
    const tooMany = await guesses(BROWSER)
    isPage(tooMany, 429)
    const seconds = Number(tooMany.headers['retry-after'])
    expect(seconds).toBeGreaterThan(0)
    const wait = seconds < 90 ? `${seconds} Sekunden` : `${Math.ceil(seconds / 60)} Minuten`
    expect(textOf(tooMany.text)).toContain(seconds === 1 ? 'eine Sekunde' : wait)

    freeBytes = 99
    await disk.look()
    const form = { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' }
    const full = await asked('/data/public/op/put', BROWSER)
    const sent = await stack.call(HOST, 'POST', '/data/public/op/put', {
      headers: form,
      body: 'a=1',
    })
    freeBytes = 1000
    await disk.look()
    for (const answer of [full, sent]) {
      isPage(answer, 503)
      expect(answer.headers['retry-after']).toBe('30')
      expect(textOf(answer.text)).toContain('Zurzeit nicht verfügbar')
      expect(textOf(answer.text)).toContain('Bitte warten Sie 30 Sekunden')
    }
    expect(full.text).toContain('<a class="button" href="">Noch einmal versuchen</a>')
    // To send a form again is the browser's business.
    expect(sent.text).not.toContain('Noch einmal versuchen')
  })

  test('learns that a host is no site, of whatever path', async () => {
    for (const path of ['/', '/x', '/admin', '/admin/api/users', '/oidc/x/login', '/data/x']) {
      const answer = await asked(path, BROWSER, 'nobody.test')
      isPage(answer, 404)
      expect(textOf(answer.text)).toContain('Hier ist keine Website')
      expect(answer.text).not.toContain('href="/"')
    }
    const odd = await asked('/', BROWSER, 'a"><b>x</b>.test')
    expect(odd.text).not.toContain('<b>x')
  })

  test('finds the site’s own page where the site has one', async () => {
    const site = await statics.site({ '404.html': '<h1>Our own</h1>', 'index.html': 'Hi' })
    const own = await asked('/nowhere', BROWSER, site)
    expect([own.status, own.text]).toEqual([404, '<h1>Our own</h1>'])
    isPage(await asked('/admin/nowhere', BROWSER, site), 404)
  })
})

describe('a program', () => {
  test.each([
    ['names no type', {}],
    ['takes all types', { accept: '*/*' }],
    ['asks for JSON', { accept: 'application/json' }],
    ['prefers JSON', { accept: 'application/json, text/html;q=0.9' }],
    ['is a script of a page', SCRIPT],
    ['has a token', { ...PAGE, authorization: 'Bearer x' }],
  ])('that %s gets JSON', async (_who, headers) => {
    for (const [, path] of ERRORS) {
      const answer = await asked(path, headers)
      if (path.startsWith('/site.git') || path.startsWith('/oidc/')) continue
      expect([path, answer.headers['content-type']]).toEqual([path, 'application/json'])
      expect(answer.json.error.code, path).toMatch(/^[A-Z]/)
      expect(answer.headers['vary'], path).toBe('accept')
    }
  })

  test('gets text of the repository, which Git shows', async () => {
    const answer = await asked('/site.git/x', { accept: '*/*' })
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  })
})
