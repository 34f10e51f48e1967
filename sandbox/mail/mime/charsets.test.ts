import { Buffer } from 'node:buffer'

import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'

import { charsetOf } from './charset-labels.ts'
import { decodeText } from './charsets.ts'

const bytes = (text: string, charset: string): Buffer => iconv.encode(text, charset)
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('text', () => {
  test.each([
    ['an unknown charset', 'x-klingon'],
    ['a charset of 7 bits', 'us-ascii'],
    ['another charset', 'iso-8859-1'],
    ['a decorated label', '"utf-8"; format=flowed'],
    ['a charset of several bytes', 'gb2312'],
    ['escapes', 'iso-2022-jp'],
    ['no charset', undefined],
  ])('of UTF-8 is read as UTF-8 where it says %s', (_, declared) => {
    expect(decodeText(Buffer.from('Grüße, 日本 🎈'), { declared })).toBe('Grüße, 日本 🎈')
  })

  test.each([
    ['koi8-r', 'Привет, мир'],
    ['windows-1251', 'Добрый день'],
    ['iso-8859-15', '5 €'],
    ['iso-8859-2', 'Zażółć gęślą'],
    ['shift_jis', '日本語の件名'],
    ['euc-jp', '日本語の件名'],
    ['gbk', '中文主题'],
    ['big5', '中文主題'],
    ['euc-kr', '한국어 제목'],
    ['cp850', 'Fenêtre'],
    ['cp437', 'Größe'],
    ['utf-7', 'Grüße + 日本'],
    ['utf-16le', 'Grüße'],
    ['utf-16be', 'Grüße'],
    ['utf-32', 'Grüße'],
  ])('is read as declared: %s', (declared, text) => {
    expect(decodeText(bytes(text, declared), { declared })).toBe(text)
  })

  test.each([
    ['utf8', 'utf-8'],
    ['UTF_8', 'utf-8'],
    ['charset=utf-8', 'utf-8'],
    ['"ISO-8859-2"', 'iso-8859-2'],
    ['iso8859_2', 'iso-8859-2'],
    ['ISO-8859-8-I', 'iso-8859-8'],
    ['3Diso-8859-2', 'iso-8859-2'],
    ["'koi8-r'", 'koi8-r'],
    ['cp-1251', 'windows-1251'],
    ['win1251', 'windows-1251'],
    ['x-windows-1250', 'windows-1250'],
    ['windows-1251//TRANSLIT', 'windows-1251'],
    ['utf-8*en', 'utf-8'],
    ['X-SJIS', 'shift_jis'],
    ['cp932', 'shift_jis'],
    ['gb_2312-80', 'gb18030'],
    ['cp936', 'gb18030'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['big5-hkscs', 'big5'],
    ['_iso-2022-jp$ESC', 'iso-2022-jp'],
    ['cp50221', 'iso-2022-jp'],
    ['unicode-1-1-utf-7', 'utf-7'],
    ['us-ascii', undefined],
    ['ANSI_X3.4-1968', undefined],
    ['x-unknown', undefined],
    ['base64', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['\0', undefined],
  ])('has a charset whatever its label looks like: %s', (label, name) => {
    expect(charsetOf(label)?.name).toBe(name)
  })

  test.each([
    ['ISO-2022-JP', '\x1b$BF|K\\\x1b(B ok', '日本 ok'],
    ['ISO-2022-JP of 1978', '\x1b$@F|K\\\x1b(J ok', '日本 ok'],
    ['half-width kana', '\x1b(I1\x1b(B', 'ｱ'],
    ['JIS X 0212', '\x1b$(D0!\x1b(B', '丂'],
    ['a line that is not closed', '\x1b$BF|K\\\nok', '日本\nok'],
    ['ISO-2022-KR', '\x1b$)C\n\x0eGQ19\x0f ok', '\n한국 ok'],
    ['no escapes', 'a\x1b[31mb', 'a\x1b[31mb'],
  ])('of 7 bits is read by its escapes: %s', (_, text, expected) => {
    for (const declared of [undefined, 'us-ascii', 'utf-8', 'iso-8859-1']) {
      expect(decodeText(latin1(text), { declared })).toBe(expected)
    }
  })

  test('of HZ is read by its tildes where it says so', () => {
    const text = latin1('~{VPND~} ~~ ok')
    expect(decodeText(text, { declared: 'hz-gb-2312' })).toBe('中文 ~ ok')
    expect(decodeText(text)).toBe('~{VPND~} ~~ ok')
  })

  test.each([
    ['UTF-8', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from('Grüße')])],
    ['UTF-16, little endian', Buffer.concat([Buffer.of(0xff, 0xfe), bytes('Grüße', 'utf-16le')])],
    ['UTF-16, big endian', Buffer.concat([Buffer.of(0xfe, 0xff), bytes('Grüße', 'utf-16be')])],
  ])('is read by its byte order mark: %s', (_, marked) => {
    expect(decodeText(marked)).toBe('Grüße')
    expect(decodeText(marked, { declared: 'iso-8859-1' })).toBe('Grüße')
  })

  test('of UTF-16 without a mark is known by its zeros', () => {
    for (const charset of ['utf-16le', 'utf-16be']) {
      expect(decodeText(bytes('Hello, Jürgen!', charset))).toBe('Hello, Jürgen!')
      expect(decodeText(bytes('Hello, Jürgen!', charset), { declared: 'utf-16' })).toBe(
        'Hello, Jürgen!',
      )
    }
    expect(decodeText(Buffer.from('only said'), { declared: 'utf-16' })).toBe('only said')
    expect(decodeText(Buffer.from('nur gesagt: ü'), { declared: 'utf-16' })).toBe('nur gesagt: ü')
  })

  test.each([
    '<meta charset="koi8-r">',
    "<META CHARSET = 'koi8-r'>",
    '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
    '<?xml version="1.0" encoding="koi8-r"?>',
  ])('of HTML is read as it says itself: %s', (head) => {
    const html = `${head}<p>Привет`
    expect(decodeText(bytes(html, 'koi8-r'), { isHtml: true })).toBe(html)
    expect(decodeText(bytes(html, 'koi8-r'), { isHtml: true, declared: 'us-ascii' })).toBe(html)
    // What the message says comes first, and UTF-8 that is valid before both.
    const declared = { isHtml: true, declared: 'windows-1251' }
    expect(decodeText(bytes(html, 'windows-1251'), declared)).toBe(html)
    expect(decodeText(Buffer.from(html), { isHtml: true })).toBe(html)
  })

  test.each([
    ['shift_jis', 'お世話になっております。明日の会議の資料をお送りします。'],
    ['euc-jp', 'お世話になっております。明日の会議の資料をお送りします。'],
    ['gb18030', '您好，附件是您需要的发票，请查收。谢谢！'],
    ['big5', '您好，附件是您需要的發票，請查收。謝謝！'],
    ['euc-kr', '안녕하세요. 첨부된 파일을 확인해 주세요. 감사합니다.'],
    ['windows-1251', 'Добрый день! Высылаю вам счёт за услуги, прошу подтвердить получение.'],
    ['koi8-r', 'Добрый день! Высылаю вам счёт за услуги, прошу подтвердить получение.'],
    ['iso-8859-7', 'Καλημέρα σας, σας στέλνω το τιμολόγιο που ζητήσατε'],
    [
      'iso-8859-2',
      'Dzień dobry, w załączeniu przesyłam fakturę za usługi. Proszę o potwierdzenie.',
    ],
    ['windows-1252', 'Größere Änderungen für München'],
    ['windows-1252', 'Voilà un été à la façade'],
    ['windows-1252', 'Grüße'],
  ])('without a charset is read by its statistics: %s', (charset, text) => {
    expect(decodeText(bytes(text, charset), { guesses: true })).toBe(text)
    expect(decodeText(bytes(text, charset), { guesses: true, declared: 'utf-8' })).toBe(text)
  })

  test('of UTF-8 with a wrong byte keeps the rest', () => {
    const cut = Buffer.from('Grüße aus Köln – ü').subarray(0, -1)
    expect(decodeText(cut, { declared: 'utf-8' })).toBe('Grüße aus Köln – \uFFFD')
    expect(decodeText(latin1('Gr\xfc\xdfe'), { declared: 'utf-8' })).toBe('Grüße')
  })

  test.each([
    ['gb2312', '隆'],
    ['shift_jis', 'ﾂｱ'],
    ['euc-kr', '췄'],
  ])(
    'that UTF-8 would read, too, is of the declared charset of several bytes: %s',
    (declared, text) => {
      const encoded = bytes(text, declared)
      expect(decodeText(encoded)).not.toBe('')
      expect(decodeText(encoded, { declared })).toBe(text)
    },
  )

  test('is read in time, however long', () => {
    const long = Buffer.alloc(8 * 1024 * 1024, 0xe9)
    expect(decodeText(long, { guesses: true })).toHaveLength(long.length)
    expect(decodeText(Buffer.alloc(1024 * 1024, '<meta '), { isHtml: true })).toContain('<meta')
  })
})
