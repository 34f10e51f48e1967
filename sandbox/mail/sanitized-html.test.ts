import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { sanitizedHtml } from './sanitized-html.ts'

describe('sanitised HTML', () => {
  test.each([
    ['words and structure', '<p>a <b>b</b><ul><li>c</ul>', '<p>a <b>b</b></p><ul><li>c</li></ul>'],
    ['scripts and what is in them', 'a<script>b</script>c', 'ac'],
    ['handlers, ids, names and classes', '<b onclick=x id=a name=b class=c>d</b>', '<b>d</b>'],
    ['inner images', '<img src="cid:a@b" alt=x>', '<img alt="x" src="cid:a@b" />'],
    ['remote images', '<img src="HTTP://e.test/x">', '<img data-remote-src="http://e.test/x" />'],
    ['images without a scheme', '<img src="//e.test/x"><img src="x.png">', '<img /><img />'],
    ['data', '<img src="data:image/png;base64,AA">', '<img />'],
    [
      'links',
      '<a href="https://a.test" target=_self>x</a>',
      '<a href="https://a.test/" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    ],
    ['links with a script', '<a href="java\nscript:x">y</a>', '<a>y</a>'],
    ['links that need a page', '<a href="x"><a href="#x">y</a>', '<a></a><a>y</a>'],
    [
      'safe styles',
      '<b style="color: RED; width:5px">x</b>',
      '<b style="color:RED;width:5px">x</b>',
    ],
    ['other styles', '<b style="position:fixed;color:url(x);margin:-9px">x</b>', '<b>x</b>'],
  ])('deals with %s', (_, html, expected) => {
    expect(sanitizedHtml(html)).toBe(expected)
  })

  test('is never deeper than browsers and other readers bear', () => {
    const html = sanitizedHtml('<div>'.repeat(100_000) + 'deep')
    expect(html.split('<div>').length).toBeLessThan(200)
    expect(html).toContain('deep')
  })

  test('stays as it is when it is sanitised again, and names nothing that runs', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '=',
      '/',
      ' ',
      'a',
      'b>',
      '<b ',
      '<a href=',
      '<svg>',
      '<style>',
      '</style>',
      'javascript:',
      'onerror=',
      '<!--',
      '-->',
      '<img src=',
      'cid:x',
      '&lt;',
      '\0',
      '<p title="',
      '<math>',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const once = sanitizedHtml(pieces.join(''))
        expect(sanitizedHtml(once)).toBe(once)
        expect(once).not.toMatch(/<[^>]*\son[a-z]+=[^>]*>(?<!"[^"]*)/i)
        expect(once).not.toMatch(/<(?:svg|style|math|script)/i)
      }),
      { numRuns: 500 },
    )
  })
})
