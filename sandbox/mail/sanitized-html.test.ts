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
    [
      'blocks and landmarks',
      'a<section>b</section><main>c<nav>d</nav></main><form action=x>e</form>',
      'a<div>b</div><div>c<div>d</div></div><div>e</div>',
    ],
    [
      'what can be folded',
      '<details><summary>a</summary>b</details><fieldset><legend>c</legend></fieldset>',
      '<div><summary>a</summary>b</div><div><legend>c</legend></div>',
    ],
    [
      'controls',
      'a<button onclick=x>b</button><label for=x>c</label>, <label>d</label>e',
      'a <span>b</span> <span>c</span>, <span>d</span> e',
    ],
    ['links that need a page', '<a href="x"><a href="#x">y</a>', '<a></a><a>y</a>'],
    [
      'safe styles',
      '<b style="text-align: CENTER; width:5px">x</b>',
      '<b style="text-align:CENTER;width:5px">x</b>',
    ],
    ['other styles', '<b style="position:fixed;float:left;margin:-9px">x</b>', '<b>x</b>'],
    [
      'styles that would end before their quotes do',
      '<b style="width:5px;}*{float:x;height:&quot;">x</b>',
      '<b style="width:5px">x</b>',
    ],
  ])('deals with %s', (_, html, expected) => {
    expect(sanitizedHtml(html)).toBe(expected)
  })

  const onWhitePage = (html: string): string =>
    `<div style="background-color:#ffffff;color:#000000">${html}</div>`

  test.each([
    [
      'a dark cell',
      '<td style="background:#111;color:#fff">x</td>',
      '<td style="background-color:#111111;color:#ffffff">x</td>',
    ],
    [
      'a dark cell of attributes',
      '<td bgcolor=111111><font color="#fff">x</font></td>',
      '<td style="background-color:#111111;color:#ffffff"><font style="color:#ffffff">x</font></td>',
    ],
    [
      'a dark page',
      '<html><body bgcolor="#222" text="#ddd"><p>x</p></body></html>',
      '<div style="background-color:#222222;color:#dddddd"><p>x</p></div>',
    ],
    [
      'a dark page that names no color',
      '<body style="background-color:black">x</body>',
      '<div style="background-color:#000000;color:#ffffff">x</div>',
    ],
    [
      'a gradient',
      '<p style="background:linear-gradient(90deg, #111 0%, #333);color:#fff">x</p>',
      '<p style="background-color:#111111;color:#ffffff">x</p>',
    ],
    [
      'white words on a picture, which is not shown',
      '<p style="background:url(https://a.test/x.png);color:#fff">x</p>',
      '<p style="color:#666666">x</p>',
    ],
    [
      'white words on a class, which is not kept',
      '<b style="color:#fff">x</b>',
      '<b style="color:#666666">x</b>',
    ],
    [
      'words that are hard to read',
      '<b style="color:#aaa">x</b>',
      '<b style="color:#666666">x</b>',
    ],
    [
      'a pair of the sender, hard to read or not',
      '<b style="background:#f60;color:#fff">x</b>',
      '<b style="background-color:#ff6600;color:#ffffff">x</b>',
    ],
    [
      'words on a background of the sender',
      '<p style="background:#f60">x<b style="color:#fff">y</b></p>',
      '<p style="background-color:#ff6600">x<b style="color:#ffffff">y</b></p>',
    ],
    [
      'a background behind words of the sender',
      '<p style="color:#fff;background:#000"><b style="background:#fff">x</b></p>',
      '<p style="background-color:#000000;color:#ffffff"><b style="background-color:#ffffff;color:#666666">x</b></p>',
    ],
    [
      'a pair of the sender, in what is inside',
      '<td style="background:#fff;color:#fff">x<b>y</b><i style="width:5px">z</i></td>',
      '<td style="background-color:#ffffff;color:#ffffff">x<b>y</b><i style="width:5px">z</i></td>',
    ],
    [
      'white words in an element that is not kept',
      '<x-card style="background:#111"><b style="color:#fff">x</b></x-card>',
      '<b style="color:#666666">x</b>',
    ],
    [
      'half transparent colors',
      '<p style="background:rgba(0,0,0,.5);color:#fff">x</p>',
      '<p style="background-color:#808080;color:#ffffff">x</p>',
    ],
    [
      'colors that it does not know',
      '<p style="background:color(srgb 0 0 0);color:windowtext">x</p>',
      '<p>x</p>',
    ],
    [
      'the color that counts',
      '<p style="color:#00f !important;color:#fff;background:none;background-color:transparent">x</p>',
      '<p style="color:#0000ff">x</p>',
    ],
    [
      'a button that is a link',
      '<a href="https://a.test/" style="background:#06c;color:#fff">x</a>',
      '<a href="https://a.test/" target="_blank" rel="noopener noreferrer nofollow" style="background-color:#0066cc;color:#ffffff">x</a>',
    ],
    [
      'a link in the dark',
      '<td bgcolor=black><a href="https://a.test/">x</a></td>',
      '<td style="background-color:#000000;color:#ffffff"><a href="https://a.test/" target="_blank" rel="noopener noreferrer nofollow" style="color:#ffffff">x</a></td>',
    ],
  ])('keeps words readable: %s', (_, html, expected) => {
    expect(sanitizedHtml(html)).toBe(onWhitePage(expected))
    expect(sanitizedHtml(onWhitePage(expected))).toBe(onWhitePage(expected))
  })

  test.each([
    'display:none',
    'DISPLAY: NONE !important',
    'max-height:0;overflow:hidden',
    'height:0;overflow:hidden',
    'opacity:0',
    'opacity:0.0',
    'visibility:hidden',
    'width:0;overflow:hidden',
    'height:0;overflow-y:hidden',
    'opacity:.01',
    'opacity:-1',
    'position:absolute;left:-9999px',
    'text-indent:-9999px',
    'display:none;mso-hide:all',
    'color:transparent',
  ])('keeps hidden what "%s" hides', (style) => {
    const html = sanitizedHtml(`<div style="${style}">a <b>b</b><img alt=c></div><p>d</p>`)
    const hidden =
      '<div style="display:none"><b style="display:none"></b><img alt="c" style="display:none" /></div>'
    expect(html).toContain('<p>d</p>')
    expect(html).toContain(hidden)
    expect(sanitizedHtml(html)).toBe(html)
  })

  test.each([
    // Cells that cut their words with an ellipsis, and the button of those that are not Outlook.
    'max-width:0;overflow:hidden',
    'mso-hide:all',
    'max-height:0',
    'opacity:0.5',
    'text-indent:-10px',
  ])('shows what "%s" does not hide', (style) => {
    expect(sanitizedHtml(`<div style="${style}">a</div>`)).toContain('>a</div>')
  })

  test('keeps no words that are too small to see, and those in larger ones among them', () => {
    expect(sanitizedHtml('<td style="font-size:0px">a<p style="font-size:13px">b</p>c</td>')).toBe(
      '<td style="font-size:0px"><p style="font-size:13px">b</p></td>',
    )
    expect(sanitizedHtml('<b style="font-size:1px;line-height:1px">a</b>')).not.toContain('a</b>')
  })

  test('has no background where the message brings no colors', () => {
    expect(sanitizedHtml('<p style="width:5px">a</p>')).toBe('<p style="width:5px">a</p>')
  })

  test('is never deeper than browsers and other readers bear', () => {
    const html = sanitizedHtml('<div>'.repeat(100_000) + 'deep')
    expect(html.split('<div>').length).toBeLessThan(200)
    expect(html).toContain('deep')
  })

  test('stays as it is when it is sanitised again, whatever its colors are', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '"',
      'x',
      '<b ',
      '<a href=https://a.test/>x</a>',
      '<x-card bgcolor=#111 style="background:#111">',
      '<section bgcolor=#222 style="background:#222">',
      '<button>',
      '</button>',
      '<font style="background:#111">',
      '<font color=#fff>',
      '<b style="background:#222;color:#fff">',
      '<b style="color:#ccc">',
      '<span style="display:none">',
      '<i style="font-size:0">',
      '</b>',
      '</font>',
    )
    const page = fc.constantFrom('', '<body text=white>', '<html><body bgcolor=#222>')
    fc.assert(
      fc.property(page, fc.array(piece, { maxLength: 40 }), (tag, pieces) => {
        const once = sanitizedHtml(tag + pieces.join(''))
        expect(sanitizedHtml(once)).toBe(once)
      }),
      { numRuns: 500 },
    )
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
