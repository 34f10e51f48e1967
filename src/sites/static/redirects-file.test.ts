import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { RedirectRules, redirectLocation, rewrittenPath } from './redirect-rules.ts'
import { parseRedirects } from './redirects-file.ts'
import { decodeRequestPath } from './request-path.ts'

/** Where the rules lead from a path, which has no file unless it is said to. */
function lead(rules: string, path: string, { search = '', hasFile = false } = {}) {
  const found = new RedirectRules(parseRedirects(rules)).find(path, { onlyForced: hasFile })
  if (!found) return undefined
  const { status } = found.rule
  return status === 200 || status === 404
    ? `${status} ${rewrittenPath(found)}`
    : `${status} ${redirectLocation(found, search)}`
}

/** The first path that the rules are for, or why there are none. */
function outcomeOf(text: string): string {
  try {
    return parseRedirects(text)[0]?.from ?? ''
  } catch (error) {
    return String(error)
  }
}

describe('the rules of _redirects', () => {
  test.each<[string, string, string | undefined]>([
    ['/old /new', '/old', '301 /new'],
    ['/old /new', '/old/', '301 /new'],
    ['/old/ /new', '/old', '301 /new'],
    ['/old /new', '/older', undefined],
    ['/old /new 302', '/old', '302 /new'],
    ['/old  /new\t308  # moved', '/old', '308 /new'],
    ['# nothing\n\n  /old /new 303', '/old', '303 /new'],
    ['/a /1\n/a /2', '/a', '301 /1'],
    ['/blog/* /news/:splat', '/blog/2026/may', '301 /news/2026/may'],
    ['/blog/* /news/:splat', '/blog/2026/', '301 /news/2026/'],
    ['/blog/* /news/:splat', '/blog', '301 /news/'],
    ['/blog/* /x\n/blog/a /y', '/blog/a', '301 /x'],
    ['/blog/a /y\n/blog/* /x', '/blog/a', '301 /y'],
    ['/:year/:month /archive?y=:year&m=:month', '/2026/05', '301 /archive?y=2026&m=05'],
    ['/s/:q /find?q=:q', '/s/rock&roll', '301 /find?q=rock%26roll'],
    ['/s/:q /find?q=:q', '/s/a=b+c#d?e', '301 /find?q=a%3Db%2Bc%23d%3Fe'],
    ['/s/* /find?in=:splat&x=1', '/s/a/b c', '301 /find?in=a%2Fb%20c&x=1'],
    ['/s/:q https://u.example/:q?q=:q#:q 302', '/s/a&b', '302 https://u.example/a&b?q=a%26b#a&b'],
    ['/s/:q /x#:q?:q', '/s/a&b', '301 /x#a&b?a&b'],
    ['/u/:name https://u.example/:name 302', '/u/ann', '302 https://u.example/ann'],
    ['/docs https://docs.example:8443/ 307', '/docs', '307 https://docs.example:8443/'],
    ['/* /index.html 200', '/any/where', '200 /index.html'],
    ['/* /index.html 200', '/', '200 /index.html'],
    ['/secret/* /404.html 404', '/secret/x', '404 /404.html'],
    ['/p/:id /pages/:id.html 200', '/p/7', '200 /pages/7.html'],
    ['/caf%C3%A9 /coffee', '/café', '301 /coffee'],
    ['/x /y#there 302', '/x', '302 /y#there'],
    ['/admin-panel /admin 302', '/admin-panel', '302 /admin'],
  ])('"%s" lead from %s to %s', (rules, path, expected) => {
    expect(lead(rules, path)).toBe(expected)
  })

  test('go behind files, unless they are forced', () => {
    expect(lead('/a /b', '/a', { hasFile: true })).toBeUndefined()
    expect(lead('/a /b 302!', '/a', { hasFile: true })).toBe('302 /b')
    expect(lead('/* /c\n/a /b 302!', '/a', { hasFile: true })).toBe('302 /b')
  })

  test('hand the query on, where the target has none', () => {
    const search = '?q=1&r=%20'
    expect(lead('/a /b', '/a', { search })).toBe('301 /b?q=1&r=%20')
    expect(lead('/a /b?x=1', '/a', { search })).toBe('301 /b?x=1')
    expect(lead('/a /b#c', '/a', { search })).toBe('301 /b?q=1&r=%20#c')
    expect(lead('/a /b', '/a', { search: '?q=\r\nx: y' })).toBe('301 /b')
  })

  test.each([
    ['/old', 'names no target'],
    ['/old new', '"new" is no target'],
    ['old /new', '"old" must begin with "/"'],
    ['/old /new 418', '"418" is no status'],
    ['/old /new abc', '"abc" is no status'],
    ['/old /new 301 x', '"x" is one word too many'],
    ['/old id=:id /new/:id 301', 'query parameters ("id=:id") are not supported'],
    ['/old /new 302 Country=de', 'conditions ("Country=de") are not supported'],
    ['/old /new Language=de', 'conditions ("Language=de") are not supported'],
    ['/old /new 200 Role=admin', 'conditions ("Role=admin") are not supported'],
    ['/api/* https://api.example/:splat 200', 'is another host'],
    ['/x https://api.example 404', 'is another host'],
    ['/x /data/public/hello 200', 'is a path of the service itself'],
    ['/data/* /x', 'is a path of the service itself'],
    ['/admin /x 302!', 'is a path of the service itself'],
    ['/x //evil.example/', 'could lead to another host'],
    ['/x /\\evil.example/', 'could lead to another host'],
    ['/x javascript:alert(1)', 'is no target'],
    ['/x data:text/html,x', 'is no target'],
    ['/x ftp://a.example/', 'is no target'],
    ['/x/* https://:splat/ 302', 'is no target'],
    ['/x/:h https://:h.example/ 302', 'is no target'],
    ['/x/:h https://a.example:h/ 302', 'is no target'],
    ['/x https://user@a.example/ 302', 'must name its host itself'],
    ['https://a.example/x /y', 'names a host'],
    ['/x?y=1 /z', 'has a query or fragment'],
    ['/a/*/b /c', 'may have "*" as its last part only'],
    ['/a* /c', 'may have "*" as its last part only'],
    ['/:a/:a /c', 'has ":a" twice'],
    ['/:1 /c', 'is no placeholder'],
    ['/a/:splat /c', 'has ":splat"'],
    ['/a /:b', '":b" in "/:b" stands for nothing'],
    ['/a /:splat', '":splat" in "/:splat" stands for nothing'],
    ['/../a /b', 'is not a path that can be asked for'],
    ['/a%2fb /b', 'is not a path that can be asked for'],
    ['/a /ü', 'must be ASCII'],
    ['/a /a 301!', 'leads to itself'],
    ['/x /y?z 200', 'must be a file of the site'],
    [`/${'a'.repeat(4096)} /b`, 'is longer than 4096 characters'],
    ['/a\u0000 /b', 'has a control character'],
    [Array.from({ length: 101 }, (_, at) => `/${at}/* /x`).join('\n'), 'more than 100 rules'],
    [Array.from({ length: 2001 }, (_, at) => `/${at} /x`).join('\n'), 'more than 2000 rules'],
  ])('are refused with the line: %s', (text, message) => {
    const padded = `# a comment\n/fine /x\n${text}`
    const wrong = () => parseRedirects(padded)
    expect(wrong).toThrow(message)
    expect(wrong).toThrow(/^_redirects, line \d+: /)
    expect(wrong).toThrow(AppError)
  })

  test('either parse or are refused with their line, whatever the text', () => {
    const word = fc.constantFrom(
      '/',
      '/a',
      '/:b',
      '*',
      ':splat',
      '//',
      'https://',
      '200',
      '!',
      '#',
      '=',
      '\\',
      '%',
      'ü',
    )
    const line = fc.array(fc.oneof(word, fc.string({ maxLength: 5 })), { maxLength: 8 })
    const text = fc.array(
      line.map((words) => words.join(' ')),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(text, (lines) => {
        expect(outcomeOf(lines.join('\n'))).toMatch(/^(?:\/|$)|_redirects, line \d+: /)
      }),
    )
  })

  test('lead to no host and put nothing into the header that the file does not say', () => {
    const rules = new RedirectRules(parseRedirects('/to/* /:splat 302\n/w/:a/* /:a/:splat 302'))
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }).map(encodeURIComponent),
      fc.constantFrom('', '%2f', '%5c', '%0d%0a', '..', '%2e%2e', 'evil.example', '@', ':', '//'),
    )
    fc.assert(
      fc.property(fc.constantFrom('to', 'w'), fc.array(part, { maxLength: 5 }), (first, parts) => {
        const path = decodeRequestPath(`/${[first, ...parts].join('/')}`)
        const found = path === undefined ? undefined : rules.find(path, { onlyForced: false })
        const location = found ? redirectLocation(found, '') : '/'
        expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(new URL(location, 'https://one.test').host).toBe('one.test')
      }),
    )
  })
})
