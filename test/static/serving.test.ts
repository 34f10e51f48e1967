import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { consoleLabel } from '#sites/console-host.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE, StaticDesk } from '#test/static-sites.ts'

const PARAGRAPHS = '<p>The quick brown fox jumps over the lazy dog.</p>\n'.repeat(200)
const HOME = `<!doctype html><title>Home</title>${PARAGRAPHS}`
const FILES = {
  'index.html': HOME,
  'about.html': '<h1>About</h1>',
  'docs/index.html': '<h1>Docs</h1>',
  'both.html': '<h1>A page</h1>',
  'both/index.html': '<h1>A folder</h1>',
  'assets/app-5XWQ3HTK.js': `export default ${JSON.stringify(PARAGRAPHS)}`,
  'style.css': 'body { color: red }',
  'picture.png': 'not really a picture',
  plain: 'no extension',
  'données/été.txt': 'summer',
  'a b.txt': 'a blank',
  'a%20b.txt': 'a percent sign',
  '.well-known/security.txt': 'Contact: mailto:a@b.test',
  '.env': 'SECRET=1',
  'sub/.htpasswd': 'ann:secret',
  'empty.txt': '',
  '/functions/greet.ts': 'export default () => 1',
}

let stack: Stack
let desk: StaticDesk
let host: string
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  desk = new StaticDesk(stack, new DeployDesk(stack))
  host = await desk.site(FILES)
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (path: string, headers?: Readonly<Record<string, string>>) =>
  desk.get(host, path, headers)

describe('a public file', () => {
  test('says what it is, how long it may be kept and who may frame it', async () => {
    const page = await get('/')
    expect(page).toMatchObject({ status: 200, text: HOME })
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(HOME.length),
      'cache-control': 'no-cache',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      vary: 'accept-encoding',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'x-frame-options': 'SAMEORIGIN',
      'content-security-policy': "frame-ancestors 'self'",
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const asset = await get('/assets/app-5XWQ3HTK.js')
    expect(asset.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    expect(asset.headers).not.toHaveProperty('x-frame-options')
    expect((await get('/')).headers['x-request-id']).not.toBe(page.headers['x-request-id'])
  })

  test.each([
    ['/', 200, 'text/html; charset=utf-8'],
    ['/style.css', 200, 'text/css; charset=utf-8'],
    ['/style.css?v=2', 200, 'text/css; charset=utf-8'],
    ['/picture.png', 200, 'image/png'],
    ['/plain', 200, 'application/octet-stream'],
    ['/donn%C3%A9es/%C3%A9t%C3%A9.txt', 200, 'text/plain; charset=utf-8'],
    ['/donne%CC%81es/e%CC%81te%CC%81.txt', 200, 'text/plain; charset=utf-8'],
    ['/.well-known/security.txt', 200, 'text/plain; charset=utf-8'],
    ['/empty.txt', 200, 'text/plain; charset=utf-8'],
    ['/a%20b.txt', 200, 'text/plain; charset=utf-8'],
    ['/a%2520b.txt', 200, 'text/plain; charset=utf-8'],
    ['/about', 200, 'text/html; charset=utf-8'],
    ['/docs/', 200, 'text/html; charset=utf-8'],
    ['/both', 200, 'text/html; charset=utf-8'],
    ['/both/', 200, 'text/html; charset=utf-8'],
    ['/%73tyle.css', 200, 'text/css; charset=utf-8'],
  ])('is at %s', async (path, status, type) => {
    const answer = await get(path)
    expect([answer.status, answer.headers['content-type']]).toEqual([status, type])
  })

  test('keeps apart what only looks the same', async () => {
    expect((await get('/a%20b.txt')).text).toBe('a blank')
    expect((await get('/a%2520b.txt')).text).toBe('a percent sign')
    expect((await get('/both')).text).toContain('A page')
    expect((await get('/both/')).text).toContain('A folder')
  })

  test.each([
    ['/about.html', '/about'],
    ['/about.html?from=mail', '/about?from=mail'],
    ['/about/', '/about'],
    ['/docs', '/docs/'],
    ['/docs/index.html', '/docs/'],
    ['/docs/index', '/docs/'],
    ['/index.html', '/'],
    ['/index', '/'],
    ['/both.html', '/both'],
    ['/both/index.html', '/both/'],
  ])('is sent on from %s to %s', async (path, location) => {
    const answer = await get(path)
    expect(answer.status).toBe(308)
    expect(answer.headers['location']).toBe(location)
  })

  test.each([
    '/nowhere',
    '/Style.css',
    '/style.css/',
    '/.env',
    '/%2eenv',
    '/sub/.htpasswd',
    '/public/style.css',
    '/functions/greet.ts',
    '/croft.json',
    '/..%2fcroft.json',
    '/%2e%2e/croft.json',
    '/%2e%2e%2fcroft.json',
    '/%252e%252e/croft.json',
    '/docs/%2e%2e%2fstyle.css',
    '/docs%2findex.html',
    '/docs%5cindex.html',
    '/style.css%00',
    '/style.css%00.txt',
    '/%ff%fe',
    '/%',
    '/%zz',
    '//style.css',
    '/docs//index.html',
    `/${'a'.repeat(5000)}`,
    `/${'%2e%2e/'.repeat(100)}etc/passwd`,
    '/assets/',
    '/assets',
    '/_headers',
    '/_redirects',
  ])('is not at %s', async (path) => {
    const answer = await get(path)
    expect(answer).toMatchObject({ status: 404, json: { error: { code: 'RouteNotFound' } } })
    expect(answer.text).not.toMatch(/SECRET|secret|export default/)
  })

  test('is there for HEAD as for GET, without its bytes', async () => {
    for (const path of ['/', '/assets/app-5XWQ3HTK.js', '/empty.txt']) {
      const read = await get(path)
      const head = await stack.call(host, 'HEAD', path)
      const told = ({ headers }: typeof head) => ({
        ...headers,
        'x-request-id': undefined,
        date: undefined,
      })
      expect(head.bytes.length).toBe(0)
      expect(told(head)).toEqual(told(read))
    }
  })

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses %s', async (method) => {
    const answer = await stack.call(host, method, '/style.css')
    expect(answer).toMatchObject({ status: 405, json: { error: { code: 'MethodNotAllowed' } } })
    expect(answer.headers['allow']).toBe('GET, HEAD')
    const nothing = await stack.call(host, method, '/nowhere')
    expect(nothing).toMatchObject({ status: 404, json: { error: { code: 'RouteNotFound' } } })
  })
})

describe('the form of a file', () => {
  const decoded = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }

  const ANY = ['br', 'zstd', 'gzip']
  test.each<[string, (string | undefined)[]]>([
    ['br', ['br']],
    ['gzip', ['gzip']],
    ['zstd', ['zstd']],
    ['x-gzip', ['gzip']],
    ['gzip;q=0.5, br;q=0.4', ['gzip']],
    ['gzip, br;q=0', ['gzip']],
    ['*', ANY],
    ['*;q=0.1, identity;q=0.5', [undefined]],
    ['br;q=0.1, identity;q=1', [undefined]],
    ['gzip, deflate, br, zstd', ANY],
    ['identity', [undefined]],
    ['deflate', [undefined]],
    ['br;q=0', [undefined]],
    ['br;q=nonsense', [undefined]],
    ['', [undefined]],
  ])('for "%s" is %s', async (accept, expected) => {
    const answer = await get('/', { 'accept-encoding': accept })
    const encoding = answer.headers['content-encoding']
    expect(expected).toContain(encoding)
    const decode = decoded[encoding as keyof typeof decoded] as
      | ((bytes: Buffer) => Buffer)
      | undefined
    expect(String(decode ? decode(answer.bytes) : answer.bytes)).toBe(HOME)
    expect(answer.headers['content-length']).toBe(String(answer.bytes.length))
    expect(answer.headers['vary']).toBe('accept-encoding')
    expect(answer.bytes.length < HOME.length / 10).toBe(decode !== undefined)
  })

  test('has an ETag of its own', async () => {
    const tags = await Promise.all(
      ['identity', 'br', 'gzip', 'zstd'].map(
        async (accept) => (await get('/', { 'accept-encoding': accept })).headers['etag'],
      ),
    )
    expect(new Set(tags).size).toBe(4)
  })

  test('is the file itself where compressing gains nothing', async () => {
    const small = await get('/style.css', { 'accept-encoding': 'br, gzip' })
    expect(small.headers).not.toHaveProperty('content-encoding')
    expect(small.headers).not.toHaveProperty('vary')
  })
})

describe('a condition', () => {
  const etagOf = async (accept?: string) =>
    (await get('/', accept === undefined ? {} : { 'accept-encoding': accept })).headers['etag'] ??
    ''

  test('that holds is answered with 304 and what a cache needs', async () => {
    for (const accept of ['identity', 'br']) {
      const etag = await etagOf(accept)
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await get('/', { 'accept-encoding': accept, 'if-none-match': value })
        expect(answer.status, value).toBe(304)
        expect(answer.bytes.length).toBe(0)
        expect(answer.headers).toMatchObject({
          etag,
          'cache-control': 'no-cache',
          vary: 'accept-encoding',
        })
      }
    }
  })

  test.each([
    ['if-none-match', '"other"', 200],
    ['if-modified-since', 'Sun, 01 Mar 2099 10:00:00 GMT', 200],
    ['if-unmodified-since', 'Sun, 01 Mar 1999 10:00:00 GMT', 200],
    ['if-match', '"other"', 412],
    ['if-match', '*', 200],
  ])('%s: %s is answered with %d', async (name, value, status) => {
    expect((await get('/', { [name]: value })).status).toBe(status)
  })
})

describe('a range', () => {
  test.each([
    ['bytes=0-3', 206, `bytes 0-3/${HOME.length}`, HOME.slice(0, 4)],
    ['bytes=5-', 206, `bytes 5-${HOME.length - 1}/${HOME.length}`, HOME.slice(5)],
    ['bytes=-4', 206, `bytes ${HOME.length - 4}-${HOME.length - 1}/${HOME.length}`, HOME.slice(-4)],
    ['bytes=0-999999', 206, `bytes 0-${HOME.length - 1}/${HOME.length}`, HOME],
    ['bytes=999999-', 416, `bytes */${HOME.length}`, ''],
    ['bytes=-0', 416, `bytes */${HOME.length}`, ''],
    ['bytes=0-1,3-4', 200, undefined, HOME],
    ['bytes=4-1', 200, undefined, HOME],
    ['lines=1-2', 200, undefined, HOME],
  ])('%s is answered with %d', async (range, status, contentRange, text) => {
    const answer = await get('/', { range })
    expect(answer.status).toBe(status)
    expect(answer.headers['content-range']).toBe(contentRange)
    expect(answer.text).toBe(text)
    expect(answer.headers['content-length']).toBe(String(text.length))
  })

  test('is of the form that was chosen', async () => {
    const whole = await get('/', { 'accept-encoding': 'gzip' })
    const part = await get('/', { 'accept-encoding': 'gzip', range: 'bytes=2-9' })
    expect(part.bytes).toEqual(whole.bytes.subarray(2, 10))
    expect(part.headers).toMatchObject({
      'content-encoding': 'gzip',
      etag: whole.headers['etag'],
    })
  })

  test('is given only of the version that the client has', async () => {
    const { headers } = await get('/')
    const etag = headers['etag'] ?? ''
    const ask = (condition: string) => get('/', { range: 'bytes=0-3', 'if-range': condition })
    expect((await ask(etag)).status).toBe(206)
    for (const other of [`W/${etag}`, '"other"', 'Sun, 01 Mar 2099 10:00:00 GMT']) {
      expect((await ask(other)).status, other).toBe(200)
    }
  })

  test('counts for GET alone', async () => {
    const head = await stack.call(host, 'HEAD', '/', { headers: { range: 'bytes=0-3' } })
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(HOME.length) } })
  })
})

test('a file that is too long for memory is streamed, with its length, whole and in parts', async () => {
  const text = '0123456789abcdef'.repeat(200_000)
  const site = await desk.site({ 'film.mp4': text })
  const whole = await desk.get(site, '/film.mp4')
  expect(whole.headers['content-length']).toBe(String(text.length))
  expect(whole.text === text).toBe(true)
  const part = await desk.get(site, '/film.mp4', { range: 'bytes=1600000-1600015' })
  expect([part.status, part.text]).toEqual([206, '0123456789abcdef'])
})

describe('what a site does not have', () => {
  test('is its own 404 page, when it has one', async () => {
    const site = await desk.site({ 'index.html': 'home', '404.html': '<h1>Lost</h1>' })
    for (const path of ['/nowhere', '/a/b/c.js', '/%00', '/404', '/index.html.bak']) {
      const answer = await desk.get(site, path, { 'if-none-match': '*', range: 'bytes=0-1' })
      expect(answer, path).toMatchObject({ status: 404, text: '<h1>Lost</h1>' })
      expect(answer.headers['cache-control']).toBe('no-cache')
    }
    const routes = await desk.get(site, '/admin/nowhere')
    expect(routes.json).toMatchObject({ error: { code: 'RouteNotFound' } })
  })

  test('is the page of its single-page application, for people and for paths of pages', async () => {
    const files = { 'index.html': '<h1>App</h1>', 'assets/app-5XWQ3HTK.js': 'x' }
    const site = await desk.site(files, { spa: true })
    for (const [path, headers] of [
      ['/users/17', {}],
      ['/users/17', PAGE],
      ['/users/john.doe', PAGE],
      ['/', {}],
    ] as const) {
      const answer = await desk.get(site, path, headers)
      expect(answer, path).toMatchObject({ status: 200, text: '<h1>App</h1>' })
      expect(answer.headers['cache-control']).toBe('no-cache')
    }
    expect((await desk.get(site, '/assets/gone-3f2a1b4c.js')).status).toBe(404)
    expect((await desk.get(site, '/data/nowhere/at/all', PAGE)).status).toBe(404)
  })

  test('may be another page of it', async () => {
    const site = await desk.site({ 'app.html': 'app', 'index.html': 'home' }, { spa: '/app.html' })
    expect((await desk.get(site, '/x', PAGE)).text).toBe('app')
    expect((await desk.get(site, '/', PAGE)).text).toBe('home')
  })

  test('is a small page at /, and the way in at /admin, for people', async () => {
    const site = await desk.site({ '/greet.ts': 'export default () => 1' })
    const page = await desk.get(site, '/', PAGE)
    expect(page).toMatchObject({ status: 200 })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['x-request-id']).toMatch(/-/)
    expect(page.text).toContain(site)
    for (const path of ['/admin', '/admin/']) {
      const way = await desk.get(site, path, PAGE)
      expect(way, path).toMatchObject({ status: 303 })
      const home = `${consoleLabel(site)}.console.localhost`
      expect(way.headers['location']).toBe(`${stack.baseUrl(home)}/`)
      expect(way.headers['x-request-id']).toMatch(/-/)
    }
    for (const path of ['/', '/admin', '/admin/']) {
      const program = await desk.get(site, path, { accept: 'application/json' })
      expect(program).toMatchObject({ status: 404, json: { error: { code: 'RouteNotFound' } } })
    }
    const other = await desk.get(site, '/nowhere', PAGE)
    expect([other.status, other.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  })

  test('says of a host that is no site that it is none', async () => {
    const answer = await desk.get('nobody.test', '/')
    expect(answer).toMatchObject({ status: 404, json: { error: { code: 'SiteNotFound' } } })
  })
})

describe('the settings', () => {
  test('name another folder, and leave the names of pages as they are', async () => {
    const site = await desk.site(
      { '/web/index.html': 'home', '/web/about.html': 'about', 'old.html': 'old' },
      { directory: './web/', cleanUrls: false },
    )
    expect((await desk.get(site, '/')).text).toBe('home')
    expect((await desk.get(site, '/about.html')).text).toBe('about')
    expect((await desk.get(site, '/index.html')).text).toBe('home')
    for (const path of ['/about', '/old', '/old.html']) {
      expect((await desk.get(site, path)).status, path).toBe(404)
    }
  })

  test.each<[string, object, string]>([
    ['an unknown field', { folder: 'web' }, 'static.folder is not known'],
    ['a folder that is a number', { directory: 3 }, 'static.directory must be text'],
    ['a folder above', { directory: '../web' }, 'static.directory "../web" contains ".."'],
    ['the whole artifact', { directory: '.' }, 'static.directory is the whole artifact'],
    ['a folder that is not there', { directory: 'web' }, 'static.directory "web" has no files'],
    ['a fallback that is not there', { spa: '/app.html' }, 'no file "public/app.html"'],
    ['a fallback that is no path', { spa: 'app.html' }, 'static.spa must be'],
    ['a word for a switch', { cleanUrls: 'yes' }, 'static.cleanUrls must be true or false'],
  ])('are refused with %s', async (_what, settings, message) => {
    const refused = await desk.tried(host, { 'index.html': 'x' }, settings)
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidArtifact', message: expect.stringContaining(message) } },
    })
    expect((await get('/')).text).toBe(HOME)
  })

  test.each([
    ['admin/index.html', '"/admin/index.html"'],
    ['admin.html', '"/admin"'],
    ['data/x.json', '"/data/x.json"'],
    ['oidc/x', '"/oidc/x"'],
    ['portal/x', '"/portal/x"'],
    ['objects/x', '"/objects/x"'],
    ['healthz', '"/healthz"'],
    ['readyz.html', '"/readyz"'],
    ['site.git/x', '"/site.git/x"'],
  ])('refuse the file "%s", which the service would hide', async (path, at) => {
    const refused = await desk.tried(host, { [path]: 'x' })
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'InvalidArtifact' } } })
    expect(refused.json.error.message).toContain(at)
  })

  test('refuse two files that are one to clients', async () => {
    const refused = await desk.tried(host, { 'e\u0301.txt': 'a', '\u00e9.txt': 'b' })
    expect(refused.json.error.message).toContain('is there twice')
  })
})
