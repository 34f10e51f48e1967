import { describe, expect, test, vi } from 'vitest'

import { SearchSteps } from './find-term.ts'
import { MatchMarker } from './mark-matches.ts'
import { parseSearch } from './parse-search.ts'

const markerOf = (q: string, field?: 'subject' | 'from') =>
  new MatchMarker(parseSearch(q).terms, field)
/** The steps that are asked for. */
function stepsOf(search: () => void): number {
  const watch = vi.spyOn(SearchSteps.prototype, 'take')
  search()
  const steps = watch.mock.calls.length
  watch.mockRestore()
  return steps
}
/** The text with its matches in brackets. */
function marked(q: string, text: string, field?: 'subject' | 'from'): string {
  const ranges = markerOf(q, field).rangesIn(text)
  return ranges.reduceRight(
    (all, { start, end }) => `${all.slice(0, start)}[${all.slice(start, end)}]${all.slice(end)}`,
    text,
  )
}

describe('what a search has found is marked', () => {
  test.each([
    ['whole words', 'art', 'Art, article', '[Art], article'],
    ['words that begin so', 'arti', 'Art, article', 'Art, [article]'],
    ['a prefix', 'strasse*', 'STRASSENBAHN, Straßen', '[STRASSENBAHN], [Straßen]'],
    ['with its accents', 'cafe', 'Ein Cafe\u0301 am', 'Ein [Cafe\u0301] am'],
    ['a phrase', '"due soon"', 'soon due, DUE\n soon', 'soon due, [DUE\n soon]'],
    ['a number of parts', 'INV-2026/0042', 'an INV-2026/0042.', 'an [INV-2026/0042].'],
    ['a part of a number', '0042', 'INV-2026/0042', 'INV-2026/[0042]'],
    ['in scripts without blanks', '会議', '港区の会議は', '港区の[会議]は'],
    ['across a broken line', '送ります', '送り\nます', '[送り\nます]'],
    ['one character', '会', '会議と社会', '[会]議と社[会]'],
    ['half of a wide form', 'レポート', 'ﾚﾎﾟｰﾄ。', '[ﾚﾎﾟｰﾄ]。'],
    ['after what is no word', '"a z"', 'a!? z, az a', '[a!? z], az a'],
    ['a phrase with the article', '"غدا اجتماع"', 'غدا الاجتماع', '[غدا الاجتماع]'],
    ['scripts side by side', '第3回', '第3回会議', '[第3回]会議'],
    ['no end of a word', 'ma 会', 'lemma 会', 'lemma [会]'],
    ['with the article', 'اجتماع', 'في الاجتماع غدا', 'في [الاجتماع] غدا'],
    ['nothing that must not be there', 'a -b', 'a b', '[a] b'],
    ['the longer of two', 'pay payment', 'payments', '[payments]'],
    ['nothing', 'zebra', 'a lion', 'a lion'],
  ])('%s', (_what, q, text, expected) => {
    expect(marked(q, text)).toBe(expected)
  })

  test('in the field that was asked for', () => {
    expect(marked('from:eve x', 'eve x')).toBe('eve [x]')
    expect(marked('from:eve x', 'eve x', 'from')).toBe('[eve] [x]')
    expect(marked('from:eve x', 'eve x', 'subject')).toBe('eve [x]')
    expect(markerOf('from:eve has:attachment').isEmpty).toBe(true)
  })

  test('fifty times', () => {
    expect(markerOf('a').rangesIn('a '.repeat(100))).toHaveLength(50)
  })
})

describe('an excerpt', () => {
  const before = 'Größe wörter vor. '.repeat(400)
  const after = ' Und danach 東京 noch mehr.'.repeat(400)

  test('is a line around the first match', () => {
    const excerpt = markerOf('zebra').excerptOf(`${before}Ein\r\n\r\nZebra${after} Zebra`) ?? ''
    expect(excerpt).toMatch(/^…\S.* Ein Zebra Und danach 東京 .*…$/)
    expect(excerpt.length).toBeLessThanOrEqual(202)
  })

  test('of a short text is all of it', () => {
    expect(markerOf('zebra').excerptOf('A\nzebra\n')).toBe('A zebra')
  })

  test('of a text without a match there is none', () => {
    expect(markerOf('lion').excerptOf(before)).toBeUndefined()
    expect(markerOf('from:eve').excerptOf('eve')).toBeUndefined()
  })

  test.each(['会議が続く', 'ประชุมวันนี้', 'ﾚﾎﾟｰﾄ', '한국'.normalize('NFD'), 'Größe ', 'é'])(
    'is found far in a text of %s',
    (unit) => {
      const text = `${unit.repeat(1500)} zebra ${unit.repeat(1500)}`
      expect(markerOf('zebra').excerptOf(text)).toMatch(/^….* zebra .*…$/)
    },
  )

  test.each([
    ['a run that nearly is there', '一'.repeat(298) + '丁', '一'],
    ['a phrase that nearly is there', `"${'a '.repeat(148)}b"`, 'a '],
    ['words in letters that are taken apart', '"ل" '.repeat(20), '\uFDFA'],
  ])('is looked for in so many steps, of %s', (_, q, unit) => {
    const compared = stepsOf(() => markerOf(q).excerptOf(unit.repeat(8000)))
    const comparedFourfold = stepsOf(() => markerOf(q).excerptOf(unit.repeat(32_000)))
    expect(comparedFourfold).toBeLessThanOrEqual(61_000)
    expect(comparedFourfold).toBeLessThanOrEqual(compared + 1000)
  })

  test('is found behind much that is like the match', () => {
    const text = `${'一'.repeat(1000)} zebra`
    expect(markerOf(`${'一'.repeat(20)}丁 zebra`).excerptOf(text)).toMatch(/ zebra$/)
  })

  test('cuts no character in two', () => {
    for (let length = 0; length < 8; length += 1) {
      const text = `${'😀'.repeat(40)}${'x'.repeat(length)} zebra ${'😀'.repeat(200)}`
      expect(markerOf('zebra').excerptOf(text)?.isWellFormed()).toBe(true)
    }
  })
})
