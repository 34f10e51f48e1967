import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE, StaticDesk } from '#test/static-sites.ts'

const FILES = {
  'index.html': 'home',
  'kept.html': 'kept',
  'taken.html': 'taken',
  'people/ann.html': 'ann',
  '404.html': 'lost',
  'assets/app-5XWQ3HTK.js': 'app',
  _redirects: [
    '/old /kept',
    '/kept /elsewhere 302',
    '/taken /kept 307!',
    '/go/* /:splat 302',
    '/u/:name /people/:name.html 200',
    '/away/* https://other.example/in/:splat 302',
    '/hidden/* /404.html 404',
    '/sign-in /oidc/x 302',
  ].join('\n'),
  _headers: [
    '/*',
    '  X-Site: one',
    '  ! Referrer-Policy',
    '/assets/*',
    '  Cache-Control: public, max-age=60',
    '  Access-Control-Allow-Origin: *',
    '/kept',
    '  X-Frame-Options: DENY',
    '  Strict-Transport-Security: max-age=1',
  ].join('\n'),
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

describe('_redirects', () => {
  test.each([
    ['/old', 301, '/kept'],
    ['/old?a=1', 301, '/kept?a=1'],
    ['/taken', 307, '/kept'],
    ['/taken.html', 308, '/taken'],
    ['/go/a/b', 302, '/a/b'],
    ['/go/a%20b', 302, '/a%20b'],
    ['/go/%E2%82%AC', 302, '/%E2%82%AC'],
    ['/away/x/y', 302, 'https://other.example/in/x/y'],
    ['/sign-in', 302, '/oidc/x'],
  ])('send %s on with %d to %s', async (path, status, location) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await stack.call(host, method, path)
      expect([answer.status, answer.headers['location']]).toEqual([status, location])
      expect(answer.headers['x-site']).toBe('one')
    }
  })

  test.each([
    ['/kept', 200, 'kept'],
    ['/u/ann', 200, 'ann'],
    ['/u/bob', 404, 'lost'],
    ['/hidden/x', 404, 'lost'],
    ['/go//evil.example', 404, 'lost'],
    ['/go/%2f%2fevil.example', 404, 'lost'],
    ['/go/%5cevil.example', 404, 'lost'],
    ['/go/%0d%0aset-cookie:x', 404, 'lost'],
  ])('answer %s with %d and a file', async (path, status, text) => {
    expect(await desk.get(host, path, PAGE)).toMatchObject({ status, text })
  })

  test('are no files', async () => {
    for (const name of ['/_redirects', '/_headers']) {
      expect((await desk.get(host, name)).text).toBe('lost')
    }
  })
})

describe('_headers', () => {
  test('change what files say, the last rule first', async () => {
    const home = await desk.get(host, '/')
    expect(home.headers).toMatchObject({ 'x-site': 'one', 'x-frame-options': 'SAMEORIGIN' })
    expect(home.headers).not.toHaveProperty('referrer-policy')
    const asset = await desk.get(host, '/assets/app-5XWQ3HTK.js')
    expect(asset.headers).toMatchObject({
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': '*',
    })
    expect((await desk.get(host, '/kept')).headers['x-frame-options']).toBe('DENY')
  })

  test('demand no HTTPS where the installation has none', async () => {
    const kept = await desk.get(host, '/kept')
    expect(kept.headers).not.toHaveProperty('strict-transport-security')
    const hsts = 'max-age=31536000'
    await using secure = await startStack({ beside: stack, config: { hsts } })
    const read = async (path: string) =>
      (await secure.call(host, 'GET', path)).headers['strict-transport-security']
    expect(await read('/')).toBe(hsts)
    expect(await read('/kept')).toBe('max-age=1')
    expect(await read('/old')).toBe(hsts)
  })

  test('are of one site alone', async () => {
    const other = await desk.site({ 'index.html': 'other' })
    const answer = await desk.get(other, '/')
    expect(answer.text).toBe('other')
    expect(answer.headers).not.toHaveProperty('x-site')
    expect((await desk.get(other, '/old')).status).toBe(404)
  })
})

test.each([
  ['_redirects', '/a /b\n/x https://other.example/ 200', '_redirects, line 2: "https://other'],
  ['_redirects', '/a /nowhere 200', '_redirects, line 1: "/nowhere" is no page of the site'],
  ['_headers', '/a\n  Set-Cookie: a=b', '_headers, line 2: "Set-Cookie"'],
  ['_redirects', '# \n'.repeat(100_000), '_redirects has 300000 bytes'],
])(
  'a deployment with a fault in %s is refused, and the earlier one stays',
  async (name, text, message) => {
    const refused = await desk.tried(host, { ...FILES, 'index.html': 'new', [name]: text })
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidArtifact', message: expect.stringContaining(message) } },
    })
    expect((await desk.get(host, '/')).text).toBe('home')
  },
)
