import { Buffer } from 'node:buffer'

import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'

import { charsetOfHeader } from './field-charset.ts'
import { HeaderFields } from './header-fields.ts'

const WORDS: Readonly<Record<string, string>> = {
  gb18030: '会议改到星期三下午三点，请大家准时参加。',
  big5: '會議改到星期三下午三點，請大家準時參加。',
  'euc-kr': '회의는 수요일 오후 세 시입니다. 모두 참석해 주십시오.',
  'euc-jp': '東京都港区の会議は明日です。よろしくお願いします。',
  shift_jis: '東京都港区の会議は明日です。よろしくお願いします。',
  'windows-1250': 'Zażółć gęślą jaźń w środę, proszę przyjść później.',
  'windows-1251': 'Встреча будет в среду в три часа, просим не опаздывать.',
  'koi8-r': 'Встреча будет в среду в три часа, просим не опаздывать.',
  'tis-620': 'ประชุมวันพุธบ่ายสามโมง',
}
const SUBJECTS: Readonly<Record<string, string>> = {
  gb18030: '会议',
  big5: '會議',
  'euc-kr': '회의',
  'euc-jp': '会議',
  shift_jis: '会議',
  'windows-1250': 'Źródło',
  'windows-1251': 'Счёт',
  'koi8-r': 'Счёт',
  'tis-620': 'ประชุม',
}
/** Nothing knows it by its statistics. */
const UNKNOWN = 'tis-620'

function subjectOf(subject: Buffer, rest: readonly (string | Buffer)[]): string {
  const message = Buffer.concat(
    ['Subject: ', subject, '\r\n', ...rest].map((each) => Buffer.from(each)),
  )
  const fields = new HeaderFields(message)
  const charset = charsetOfHeader(message, fields.bodyStart)
  return fields.text('subject', { charset }).trim()
}

const alternative = (type: string, text: Buffer): readonly (string | Buffer)[] => [
  'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n',
  'Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n',
  `Content-Type: ${type}\r\n\r\n`,
  text,
  '\r\n--b--\r\n--a--\r\n',
]

describe('raw bytes in a header', () => {
  test.each(Object.keys(SUBJECTS))('are of the charset that a part declares: %s', (charset) => {
    const subject = iconv.encode(SUBJECTS[charset] ?? '', charset)
    const text = iconv.encode(WORDS[charset] ?? '', charset)
    for (const body of [text, Buffer.from('words')]) {
      const declared = `text/plain; charset="${charset}"`
      expect(subjectOf(subject, alternative(declared, body))).toBe(SUBJECTS[charset])
      expect(subjectOf(subject, [`Content-Type: ${declared}\r\n\r\n`, body])).toBe(
        SUBJECTS[charset],
      )
    }
    const html = iconv.encode(`<meta charset=${charset}>${WORDS[charset] ?? ''}`, charset)
    expect(subjectOf(subject, alternative('text/html', html))).toBe(SUBJECTS[charset])
  })

  test.each(Object.keys(SUBJECTS).filter((charset) => charset !== UNKNOWN))(
    'are of the charset that the text is detected to have: %s',
    (charset) => {
      const subject = iconv.encode(SUBJECTS[charset] ?? '', charset)
      const text = iconv.encode(WORDS[charset] ?? '', charset)
      const encoded = text.toString('base64')
      for (const type of [
        'text/plain',
        'text/plain; charset=us-ascii',
        'text/html; charset=utf-8',
      ]) {
        expect(subjectOf(subject, alternative(type, text))).toBe(SUBJECTS[charset])
        const base64 = `${type}\r\nContent-Transfer-Encoding: base64`
        expect(subjectOf(subject, alternative(base64, Buffer.from(encoded)))).toBe(
          SUBJECTS[charset],
        )
      }
      expect(subjectOf(subject, ['\r\n', text])).toBe(SUBJECTS[charset])
    },
  )

  test('are UTF-8 where they are, and where the text says nothing, Windows-1252', () => {
    const gbk = alternative('text/plain; charset=windows-1251', Buffer.from('x'))
    expect(subjectOf(Buffer.from('Grüße'), gbk)).toBe('Grüße')
    const german = iconv.encode('Grüße', 'latin1')
    expect(
      subjectOf(german, alternative('text/plain', Buffer.from('Grüße 日本'.repeat(400)))),
    ).toBe('Grüße')
    expect(
      subjectOf(german, alternative('image/png', iconv.encode(WORDS['gb18030'] ?? '', 'gb18030'))),
    ).toBe('Grüße')
  })

  test('are read, whatever is behind them', () => {
    const german = iconv.encode('Grüße', 'latin1')
    const nested = Array.from(
      { length: 200 },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}x\r\n\r\n--b${at}x\r\n`,
    )
    expect(subjectOf(german, nested)).toBe('Grüße')
    expect(subjectOf(german, [])).toBe('Grüße')
  })
})
