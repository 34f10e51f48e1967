import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LANGUAGES } from '#base/language.ts'
import { programVersion } from '#config/program-version.ts'
import { consoleLabel } from '#sites/console-host.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE, StaticDesk } from '#test/static-sites.ts'
import { CONSOLE_SCRIPT } from '#test/test-console.ts'

const MAIN = '/-/console/main-AAAAAAAA.js'
const PUBLISHED = {
  'index.html': '<p>the site</p>',
  'people.html': '<p>people of the site</p>',
  'app.js': 'alert(1)',
  '-/console/main-AAAAAAAA.js': 'alert("of the site")',
  '-/own.txt': 'of the site',
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; media-src 'self' blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** A site with a derived name, and one with a name of its own. */
const SITES = [
  ['one.test', `${consoleLabel('one.test')}.console.localhost`],
  ['two.test', 'admin.two.test'],
] as const

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
  await stack.portal('PATCH', '/sites/two.test', { adminDomain: 'admin.two.test' })
  const desk = new StaticDesk(stack, new DeployDesk(stack))
  for (const [domain] of SITES) await desk.deploy(domain, PUBLISHED)
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (host: string, path: string, headers: Readonly<Record<string, string>> = PAGE) =>
  stack.call(host, 'GET', path, { headers })

const settingsIn = (text: string) =>
  JSON.parse(
    (/<meta\s+name="croft-console"\s+content="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll(
      '&#34;',
      '"',
    ),
  )

describe.each(SITES)('at the console of %s', (domain, host) => {
  test.each(['/', '/people', '/people/', '/people.html', '/data-explorer/items/a.png', '/app.js'])(
    '%s is the page of the console',
    async (path) => {
      const answer = await get(host, path)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('<div id="app"></div>')
      expect(answer.text).toContain(`<script type="module" src="${MAIN}"></script>`)
      expect(answer.text).toContain(
        '<link rel="stylesheet" href="/-/console/styles-BBBBBBBB.css" />',
      )
      expect(answer.text).toContain(
        '<link rel="modulepreload" href="/-/console/shell-CCCCCCCC.js" />',
      )
      expect(answer.text).not.toContain('of the site')
    },
  )

  test('the page says what the application needs, and nothing else', async () => {
    const party = await RelyingParty.of(stack, domain, 'admin')
    expect(settingsIn((await get(host, '/')).text)).toEqual({
      issuer: `${stack.baseUrl(host)}${party.path}`,
      clientId: party.pool.clientId,
      domain,
      version: await programVersion(),
      languages: LANGUAGES,
    })
  })

  test('the page is kept to itself', async () => {
    const { headers } = await get(host, '/')
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'private, no-cache',
    })
    // Browsers honour it on this machine's own names, and over TLS.
    expect(headers['cross-origin-opener-policy']).toBe(
      host.endsWith('.localhost') ? 'same-origin' : undefined,
    )
    expect(headers['permissions-policy']).toContain('camera=(), ')
    expect(headers['x-request-id']).toBeDefined()
    expect(headers['set-cookie']).toBeUndefined()
  })

  test('the page is in the language of the reader, and is read again when it has changed', async () => {
    for (const language of LANGUAGES) {
      const { text, headers } = await get(host, '/', { ...PAGE, 'accept-language': language })
      expect(text).toContain(`<html lang="${language}">`)
      expect(headers).toMatchObject({ 'content-language': language, vary: 'accept-language' })
    }
    const { headers } = await get(host, '/')
    const same = { ...PAGE, 'if-none-match': headers['etag'] ?? '' }
    expect((await get(host, '/people', same)).status).toBe(304)
    expect((await get(host, '/', { ...same, 'accept-language': 'ja' })).status).toBe(200)
    const head = await stack.call(host, 'HEAD', '/', { headers: PAGE })
    expect(head).toMatchObject({ status: 200, text: '', headers: { etag: headers['etag'] } })
  })

  test('files are compressed, and kept for a year', async () => {
    const headers = {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
    }
    const plain = await get(host, MAIN, {})
    expect(plain).toMatchObject({ status: 200, headers, text: CONSOLE_SCRIPT })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const encoding of ['br', 'gzip'] as const) {
      const answer = await stack.call(host, 'GET', MAIN, {
        headers: { 'accept-encoding': encoding },
      })
      expect(answer.headers['content-encoding']).toBe(encoding)
      expect(answer.headers).toMatchObject(headers)
      expect(decode[encoding](answer.bytes).toString()).toBe(CONSOLE_SCRIPT)
    }
    const css = await get(host, '/-/console/styles-BBBBBBBB.css', {})
    expect(css.headers['content-type']).toBe('text/css; charset=utf-8')
    const head = await stack.call(host, 'HEAD', MAIN)
    expect(head).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': String(CONSOLE_SCRIPT.length) },
    })
  })

  test.each([
    '/-/console/main-BBBBBBBB.js',
    '/-/console/',
    '/-/console',
    '/-/own.txt',
    '/-/console/../console/none.js',
    '/-/console/%2e%2e/package.json',
    '/.well-known/openid-configuration',
    '/.well-known/security.txt',
    '/favicon.ico',
    '/robots.txt',
  ])('%s is nothing', async (path) => {
    for (const headers of [PAGE, {}]) expect((await get(host, path, headers)).status).toBe(404)
  })

  test('only reading is answered', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of ['/', '/people', MAIN]) {
        const answer = await stack.call(host, method, path, { headers: PAGE })
        expect([method, path, answer.status]).toEqual([method, path, 404])
      }
    }
  })

  test('the site has its own files, and none of the console', async () => {
    expect((await get(domain, '/')).text).toBe(PUBLISHED['index.html'])
    expect((await get(domain, MAIN, {})).text).toBe(PUBLISHED['-/console/main-AAAAAAAA.js'])
    expect((await get(domain, '/-/own.txt', {})).text).toBe(PUBLISHED['-/own.txt'])
    expect((await get(domain, '/-/console/shell-CCCCCCCC.js', {})).status).toBe(404)
  })

  test('a script of the site’s origin gets nothing', async () => {
    const token = await stack.adminToken(domain)
    for (const path of ['/', MAIN, '/admin/api/users']) {
      const origin = stack.baseUrl(domain)
      const answer = await stack.call(host, 'GET', path, { token, headers: { origin } })
      expect([path, answer.headers['access-control-allow-origin']]).toEqual([path, undefined])
    }
  })
})

test('an unknown host below the console domain has no page', async () => {
  for (const host of ['three-test.console.localhost', 'console.localhost']) {
    expect((await get(host, '/')).status).toBe(404)
    expect((await get(host, MAIN, {})).status).toBe(404)
  }
})

test('a build that fails is tried again', async () => {
  let tries = 0
  const openConsole = async () => {
    tries += 1
    if (tries === 1) throw new Error('The disk is full')
    return stack.context.openConsole()
  }
  await using other = await startStack({ sites: ['one.test'], platform: { openConsole } })
  const status = async () =>
    (await other.call('one-test.console.localhost', 'GET', '/', { headers: PAGE })).status
  expect([await status(), await status(), await status()]).toEqual([500, 200, 200])
  expect(tries).toBe(2)
})
