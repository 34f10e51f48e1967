import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { MessageVectors, type SearchableText } from './message-vector.ts'

const NOTHING: SearchableText = {
  subject: '',
  from: [''],
  to: [],
  filenames: [],
  hasAttachments: false,
  text: '',
}
const vectorOf = (message: Partial<SearchableText>) =>
  new MessageVectors().vectorOf({ ...NOTHING, ...message })
/** The words of a text, in the order in which they are first there. */
const wordsOf = async (text: string) =>
  [...(await vectorOf({ text })).matchAll(/'([^']*)'/g)].map(([, word]) => word)

test.each([
  ['German', 'Die Straße, INV-2026/0042.', ['die', 'strasse', 'inv', '2026', '0042']],
  ['Polish', 'Łódź: zapłać', ['lodz', 'zaplac']],
  ['Turkish', "İstanbul'da IŞIK", ['istanbul', 'da', 'isik']],
  ['Japanese', '東京都、ﾀﾜｰ2F', ['東京', '京都', '都', 'タワ', 'ワー', 'ー', '2f']],
  ['Chinese', '会议ＡＢ室', ['会议', '议', 'ab', '室']],
  ['Thai', 'ประชุม', ['ปร', 'ระ', 'ะช', 'ชุ', 'ุม', 'ม']],
  ['Arabic', 'الاجتماع والمكتب في البيت', ['اجتماع', 'مكتب', 'في', 'بيت']],
  ['Hindi', 'बैठक दिल्ली', ['बैठक', 'दिल्ली']],
  ['Korean', '회의는 서울', ['회의', '의는', '는', '서울', '울']],
  ['Vietnamese', 'Cuộc họp', ['cuoc', 'hop']],
  ['Greek', 'Ο ΥΠΕΎΘΥΝΟΣ', ['ο', 'υπευθυνοσ']],
  ['Russian', 'Всё готово', ['все', 'готово']],
  ['characters of two units', '𠮷野家', ['𠮷野', '野家', '家']],
  ['a script across a broken line', '東京\r\n 都', ['東京', '京都', '都']],
  ['scripts across a blank line', '東京\n\n都', ['東京', '京', '都']],
])('the words of %s', async (_language, text, words) => {
  expect(await wordsOf(text)).toEqual(words)
})

test('fields have words of their own, and no phrase goes from one to another', async () => {
  expect(
    await vectorOf({
      subject: 'Two words',
      from: ['Eve <e@x.y>'],
      to: ['a', 'b'],
      filenames: ['Report_ja.pdf'],
      hasAttachments: true,
      text: 'two',
    }),
  ).toBe(
    [
      "':attachment'",
      "'two':1,17 's:two':1 'words':2 's:words':2",
      "'eve':4 'f:eve':4 'e':5 'f:e':5 'x':6 'f:x':6 'y':7 'f:y':7",
      "'a':9 't:a':9 'b':11 't:b':11",
      "'report':13 'n:report':13 'ja':14 'n:ja':14 'pdf':15 'n:pdf':15",
    ].join(' '),
  )
})

test('a word counts by its first 128 characters', async () => {
  expect(await wordsOf('x'.repeat(5000))).toEqual(['x'.repeat(128)])
})

test('of one word 256 positions are kept, of a message those up to 16,383', async () => {
  const often = await vectorOf({ text: 'often '.repeat(300) })
  expect(often.split(' ')[0]?.split(',')).toHaveLength(256)
  expect(often).toContain("':m:often'")
  const words = Array.from({ length: 20_000 }, (_, n) => `w${n}`)
  const long = new Set((await vectorOf({ text: words.join(' ') })).split(' '))
  expect(long.has("'w16380':16383")).toBe(true)
  expect(long.has("'w19999'")).toBe(true)
  expect(long.has("':l:w19999'")).toBe(true)
  expect(long.has("':l:w16380'")).toBe(false)
})

test('a word that is too often says so for itself and its field alone', async () => {
  const subject = 'subject '.repeat(257)
  const vector = await vectorOf({ subject, text: `other words, ${'often '.repeat(257)}` })
  const markers = [...vector.matchAll(/(?:^| )':([^']*)'/g)].map(([, marker]) => marker)
  expect(markers).toEqual(['m:subject', 'm:s:subject', 'm:often'])
})

test('what exceeds a vector is left out from the end', async () => {
  const words = Array.from({ length: 100_000 }, (_, n) => `${'ж'.repeat(20)}${n}`)
  const kept = new Set(await wordsOf(words.join(' ')))
  expect(kept.has(`${'ж'.repeat(20)}15000`)).toBe(true)
  expect(kept.has(`${'ж'.repeat(20)}30000`)).toBe(false)
})

test.each([
  ['one run without a blank', '東京都'.repeat(10_000)],
  ['many words', 'word '.repeat(30_000)],
])('%s leaves turns to others', async (_what, text) => {
  let turns = 0
  const isOver = vectorOf({ text }).then(() => true)
  while (!(await Promise.race([isOver, nextTurn(false)]))) turns += 1
  expect(turns).toBeGreaterThan(5)
})
