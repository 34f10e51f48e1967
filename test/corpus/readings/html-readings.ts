import { html, message, multipart, plain } from './entity.ts'
import { type Reading, readingsOf } from './reading.ts'

const page = readingsOf('html')
const HIDDEN = 'see it in a browser'
const VISIBLE = '<p>Your order has left</p>'

const HIDING: readonly (readonly [what: string, tag: string])[] = [
  ['display none', `<div style="display:none">${HIDDEN}</div>`],
  ['display none important', `<div style="display:none !important;color:#fff">${HIDDEN}</div>`],
  ['max-height 0', `<div style="max-height:0px;overflow:hidden">${HIDDEN}</div>`],
  ['font-size 0', `<span style="font-size:0px">${HIDDEN}</span>`],
  [
    'font-size 1px white',
    `<span style="font-size:1px;color:#ffffff;line-height:1px">${HIDDEN}</span>`,
  ],
  ['opacity 0', `<div style="opacity:0">${HIDDEN}</div>`],
  ['visibility hidden', `<div style="visibility:hidden">${HIDDEN}</div>`],
  ['mso-hide beside others', `<div style="display:none;mso-hide:all">${HIDDEN}</div>`],
  ['a place beside the page', `<div style="position:absolute;left:-9999px">${HIDDEN}</div>`],
  ['no width', `<div style="width:0;overflow:hidden">${HIDDEN}</div>`],
  ['font 0', `<div style="font:0/0 a">${HIDDEN}</div>`],
  ['hidden attribute', `<div hidden>${HIDDEN}</div>`],
  ['in a table', `<table><tr><td style="display:none"><p>${HIDDEN}</p></td></tr></table>`],
  ['nested', `<div style="display:none"><b><i>${HIDDEN}</i></b></div>`],
  ['in a comment', `<!-- ${HIDDEN} -->`],
  ['in a title', `<title>${HIDDEN}</title>`],
  ['in a style', `<style>p { content: "${HIDDEN}" }</style>`],
  ['in a script', `<script>"${HIDDEN}"</script>`],
  ['for outlook alone', `<!--[if mso]><p>${HIDDEN}</p><![endif]-->`],
]

/** HTML as programs that send to many make it: what is hidden there is not read. */
export const PAGES: readonly Reading[] = [
  ...HIDING.map(([what, tag]) =>
    page(`hidden by ${what}`, message(html(`<html><body>${tag}${VISIBLE}</body></html>`)), {
      text: 'Your order has left',
      html: 'Your order has left',
      lacks: [HIDDEN],
    }),
  ),
  page(
    'cells of mjml',
    message(
      html(
        `<table><tr><td style="font-size:0px"><div style="font-size:13px">words</div></td></tr></table>`,
      ),
    ),
    { text: 'words', html: 'words' },
  ),
  page('not for outlook', message(html('<!--[if !mso]><!--><p>words</p><!--<![endif]-->')), {
    text: 'words',
    html: 'words',
  }),
  page(
    'document',
    message(
      html(
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>x</title></head><body><h2>Größe</h2><p>und Maß</p></body></html>',
      ),
    ),
    { html: 'Größe und Maß', lacks: ['DOCTYPE'] },
  ),
  page('never closed', message(html('<table><tr><td><b>words<td>more')), {
    contains: ['words', 'more'],
    html: 'words',
  }),
  page('entities', message(html('<p>Gr&ouml;&szlig;e &amp; Ma&#223; &lt;b&gt;&nbsp;x</p>')), {
    text: 'Größe & Maß <b> x',
  }),
  page('list', message(html('<ul><li>one</li><li>two</li></ul>')), {
    contains: ['one', 'two'],
    html: 'one',
  }),
  page('table', message(html('<table><tr><td>one</td><td>two</td></tr></table>')), {
    text: 'one two',
  }),
  page(
    'blocks and controls',
    message(
      html(
        '<section>one</section><section>two</section><dl><dt>three<dd>four</dl><label>five</label><button>six</button>',
      ),
    ),
    { text: 'one two three four five six' },
  ),
  page('link', message(html('<p><a href="https://x.test/">words</a></p>')), {
    contains: ['words', 'https://x.test/'],
  }),
  page('picture alone', message(html('<img src="https://x.test/a.png" alt="words">')), {
    lacks: ['<img'],
  }),
  page(
    'dark cell',
    message(html('<table><tr><td style="background:#111;color:#fff">words</td></tr></table>')),
    { text: 'words', html: 'words' },
  ),
  page(
    'text beside html of a preheader',
    message(
      multipart('alternative', [
        plain('plain words'),
        html(`<div style="display:none">${HIDDEN}</div>${VISIBLE}`),
      ]),
    ),
    { text: 'plain words', html: 'Your order has left', lacks: [HIDDEN] },
  ),
  page(
    'signature of outlook',
    message(
      html('<html xmlns:o="urn:x"><body><p class="MsoNormal">words<o:p></o:p></p></body></html>'),
    ),
    { text: 'words', html: 'words' },
  ),
]
