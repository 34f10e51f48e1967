import { describe, expect, test } from 'vitest'

import { textOfHtml } from './body.ts'
import { sanitizedHtml } from './sanitized-html.ts'

const textOf = (html: string): string => textOfHtml(sanitizedHtml(html))

describe('text of HTML without blanks between its tags', () => {
  test('has cells apart, and rows as lines', () => {
    const cells = (...texts: readonly string[]): string =>
      `<tr>${texts.map((text) => `<td>${text}</td>`).join('')}</tr>`
    const rows = cells('Rechnungsnummer', 'RE-7788') + cells('Gesamtbetrag', '1.299,00 &euro;')
    const lines = 'Rechnungsnummer RE-7788\nGesamtbetrag 1.299,00 €'
    expect(textOf(rows)).toBe(lines)
    expect(textOf(`<table><tbody>${rows}</tbody></table>`)).toBe(lines)
    expect(textOf(`<table>${rows}</table>`.replaceAll('td>', 'th>'))).toBe(lines)
    expect(textOf('<table><caption>a</caption><tr><td>b<td>c<tr><td>d</table>')).toBe('a\nb c\nd')
    expect(textOf('<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>')).toBe('a\nb c\n\nd')
  })

  test('has no more blanks where there are some, or nothing is', () => {
    expect(textOf('<table>\n<tr>\n<td> a </td>\n<td> </td><td></td><td>b</td></tr></table>')).toBe(
      'a b',
    )
    expect(textOf('<table><tr><td></td></tr><tr><td>a</td></tr><tr></tr></table>')).toBe('a')
  })

  test.each(
    (
      'address article aside center dd details div dl dt fieldset figcaption figure footer form header legend li main nav p ' +
      'section summary tr'
    ).split(' '),
  )('has lines of <%s>', (name) => {
    const text = textOf(`a<${name}>b</${name}><${name}>c</${name}>d`)
    expect(text.split(/[\s*]+/)).toEqual(['a', 'b', 'c', 'd'])
    expect(text).toMatch(/b\s*\n/)
  })

  test.each(['button', 'label', 'td', 'th'])('has words of <%s> apart', (name) => {
    expect(textOf(`<p>a<${name}>b</${name}><${name}>c</${name}>d</p>`)).toBe('a b c d')
  })
})
