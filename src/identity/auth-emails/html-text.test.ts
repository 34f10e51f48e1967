import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { htmlToText } from './html-text.ts'

const PIECES = 250_000
/** Takes a second. */
const ONE_PASS_MS = 30_000

describe('HTML as text', () => {
  test.each([
    ['words', 'Hello', 'Hello'],
    ['white space as HTML has it', ' a \n\t b ', 'a b'],
    ['paragraphs', '<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['line breaks', 'One<br>Two<BR/>Three', 'One\nTwo\nThree'],
    ['a list', '<ul><li>One</li><li>Two</li></ul>', '- One\n- Two'],
    ['a table', '<table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table>', 'A B\nC'],
    ['inline tags', 'a<b>b</b>c', 'abc'],
    ['a link', '<a href="https://one.test/">Sign in</a> now', 'Sign in (https://one.test/) now'],
    [
      'a link that shows itself',
      "<a href='https://one.test'>https://one.test</a>",
      'https://one.test',
    ],
    ['a link around a picture', '<a href=https://one.test><img src=x></a>', 'https://one.test'],
    ['a script link', '<a href="javascript:alert(1)">Go</a>', 'Go'],
    ['entities', '&lt;b&gt; &amp;amp; &#169;&#x2014;&nbsp;x &unknown;', '<b> &amp; ©— x &unknown;'],
    ['entities of control characters', 'a&#0;&#10;&#x202a;&#xd800;b', 'a \u202a b'],
    ['a comment', 'a<!-- <p>no</p> -->b', 'ab'],
    [
      'what is not shown',
      '<head><title>t</title></head><style>p{}</style>x<script>1<2</script>',
      'x',
    ],
    ['what follows on it', '<STYLE>p{}</STYLE >x\u0130<Script></sCript>y', 'x\u0130y'],
    ['a lone bracket', '1 < 2 and 2 <3', '1 < 2 and 2 <3'],
    ['a tag that never ends', 'a<b', 'a'],
    ['a comment that never ends', 'a<!-- b', 'a'],
    ['a script that never ends', 'a<script>b', 'a'],
    ['nothing', '', ''],
  ])('shows %s', (_what, html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  test('takes any text, and leaves no markup that it understood', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '<!--',
      '-->',
      '<p>',
      '</a>',
      '<a href="',
      '"',
      '&#',
      'x',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        expect(htmlToText(pieces.join(''))).not.toMatch(/<p>|<!--/)
      }),
    )
  })

  // A parser that reads it again from the start at each piece takes minutes.
  test.each([
    ['comments', '<!--', ''],
    ['tags', '<a', ''],
    ['links', '<a href=', ''],
    ['spaces', ' &nbsp;', ''],
    ['brackets', '< ', '< '],
    ['scripts', '<script>', ''],
    ['blocks', '<p>', ''],
    ['entities', '&#', '&#'],
  ])('is one pass over %s', { timeout: ONE_PASS_MS }, (_what, piece, shown) => {
    expect(htmlToText(piece.repeat(PIECES)) === shown.repeat(PIECES).trim()).toBe(true)
  })
})
