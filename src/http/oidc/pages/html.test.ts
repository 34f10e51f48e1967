import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { html } from './html.ts'

describe('a piece of a page', () => {
  test('escapes whatever is put into it', () => {
    const name = `<b>"O'Hara" & \`co\`</b>`
    expect(html`<i title="${name}">${name}</i>`.render('en')).toBe(
      '<i title="&#60;b&#62;&#34;O&#39;Hara&#34; &#38; &#96;co&#96;&#60;/b&#62;">' +
        '&#60;b&#62;&#34;O&#39;Hara&#34; &#38; &#96;co&#96;&#60;/b&#62;</i>',
    )
  })

  test('never lets text end its attribute or start a tag', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 50 }), (text) => {
        const piece = html`<a href="${text}">${text}</a>`.render('en')
        expect(piece.match(/["'<>`]/g)).toEqual(['<', '"', '"', '>', '<', '>'])
      }),
    )
  })

  test('takes other pieces as they are, alone and in rows', () => {
    const rows = ['a', '<'].map((row) => html`<i>${row}</i>`)
    expect(html`<b>${rows}${html`<u>!</u>`}</b>`.render('en')).toBe(
      '<b><i>a</i><i>&#60;</i><u>!</u></b>',
    )
  })

  test('shows nothing for what is not there', () => {
    expect(html`[${undefined}${false}${0}${''}]`.render('en')).toBe('[0]')
  })
})
