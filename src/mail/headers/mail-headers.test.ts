import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'

import { isStorable } from '#base/storable-text.ts'

import { readMailHeaders } from './mail-headers.ts'

const read = (text: string | Buffer) => readMailHeaders(Buffer.from(text))

describe('the headers of a message', () => {
  test('are what it says, unfolded and without what comes behind the first empty line', () => {
    const headers = read(
      [
        'Received: from a',
        'From: Ann Lee <Ann@Shop.test>',
        'To: "Lee, Bob" <bob@one.test>,',
        '\tcarol@one.test',
        'Cc: Team: dan@one.test, "E" <eve@one.test>;',
        'Reply-To: answers@shop.test',
        'Subject: A long',
        '  subject',
        'Message-ID: <a.1@shop.test>',
        'In-Reply-To: <b.2@one.test>',
        'References: <c.3@one.test>',
        ' <b.2@one.test>',
        '',
        'Subject: not this one',
      ].join('\r\n'),
    )
    expect(headers).toEqual({
      subject: 'A long subject',
      from: 'Ann Lee <Ann@Shop.test>',
      fromAddress: 'ann@shop.test',
      authors: ['Ann Lee <Ann@Shop.test>'],
      authorIdentifiers: ['Ann@Shop.test'],
      to: ['"Lee, Bob" <bob@one.test>', 'carol@one.test'],
      cc: ['dan@one.test', 'E <eve@one.test>'],
      replyTo: ['answers@shop.test'],
      messageId: 'a.1@shop.test',
      inReplyTo: 'b.2@one.test',
      references: ['c.3@one.test', 'b.2@one.test'],
    })
  })

  test.each([
    ['quoted-printable', 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['base64', 'Subject: =?UTF-8?B?R3LDvMOfZQ==?=', 'Grüße'],
    ['latin 1', 'Subject: =?iso-8859-1?Q?Gr=FC=DFe?=', 'Grüße'],
    ['Japanese', 'Subject: =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=', '日本'],
    [
      'words cut inside a character',
      'Subject: =?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9F?=\r\n =?utf-8?Q?e?=',
      'Grüße',
    ],
    ['an unknown charset', 'Subject: =?x-klingon?Q?abc?=', 'abc'],
    ['a word that is none', 'Subject: =?utf-8?X?abc?=', '=?utf-8?X?abc?='],
    ['UTF-8 as it is', 'Subject: Grüße', 'Grüße'],
    ['bare line feeds', 'X: y\nSubject: a\n b\n\nSubject: c', 'a b'],
    ['blanks before the colon', 'Subject : a', 'a'],
    ['any case', 'sUBJECT:a', 'a'],
    ['lines that are no field', 'From me\r\n:x\r\nSubject: a', 'a'],
    ['the first of two', 'Subject: a\r\nSubject: b', 'a'],
    ['NUL and control characters', 'Subject: a\0b\u0007c\td', 'a\uFFFDb\u0007c d'],
    ['no subject', 'From: a@b.test', ''],
    ['no header', '\r\nSubject: a', ''],
    ['nothing', '', ''],
  ])('are read from %s', (_what, text, subject) => {
    expect(read(text).subject).toBe(subject)
  })

  test('in what was never UTF-8 are read as Windows wrote them', () => {
    expect(read(Buffer.from('Subject: Gr\xFC\xDFe \x80', 'latin1')).subject).toBe('Grüße €')
  })

  test('in raw bytes are of the charset of a part, or of what its text is detected to have', () => {
    const text = '会议改到星期三下午三点，请大家准时参加。'
    const message = (type: string): Buffer =>
      Buffer.concat([
        Buffer.from('Subject: '),
        iconv.encode('会议', 'gbk'),
        Buffer.from('\r\nFrom: '),
        iconv.encode('王芳', 'gbk'),
        Buffer.from(' <w@x.test>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'),
        Buffer.from(`Content-Type: ${type}\r\n\r\n`),
        iconv.encode(text, 'gbk'),
        Buffer.from('\r\n--b--\r\n'),
      ])
    for (const type of ['text/plain; charset=gbk', 'text/plain', 'text/plain; charset=utf-8']) {
      expect(read(message(type))).toMatchObject({ subject: '会议', from: '王芳 <w@x.test>' })
    }
  })

  test.each([
    ['<a@b>', ['a@b']],
    ['a@b', ['a@b']],
    ['<a@b><c@d> <e@f>', ['a@b', 'c@d', 'e@f']],
    ['(comment) <a@b> (x)', ['a@b']],
    ['<>', []],
    [`<${'x'.repeat(999)}>`, []],
  ])('know the ids in %s', (value, ids) => {
    expect(read(`References: ${value}`).references).toEqual(ids)
  })

  test('keep the first and the last of many references', () => {
    const ids = Array.from({ length: 80 }, (_, at) => `<${at}@x>`).join(' ')
    const { references } = read(`References: ${ids}`)
    expect(references).toHaveLength(50)
    expect([references[0], references[1], references.at(-1)]).toEqual(['0@x', '31@x', '79@x'])
  })

  test.each([
    ['Ann <ceo@\u202Ebank\u202C.test>', 'Ann <ceo@bank.test>'],
    ['\u202Ennna\u202C \u2066Lee\u2069 <ann@x.test>', 'nnna Lee <ann@x.test>'],
    ['a\u200Bn\uFEFFn@x\u200D.test', 'ann@x.test'],
    ['=?utf-8?B?4oCu4oCLQW5u?= <ann@x.test>', 'Ann <ann@x.test>'],
    [
      '\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 <ann@x.test>',
      '\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 <ann@x.test>',
    ],
    ['\u0915\u094D\u200D\u0937 <ann@x.test>', '\u0915\u094D\u200D\u0937 <ann@x.test>'],
  ])('show no marks that turn or hide letters: %j', (value, shown) => {
    expect(read(`From: ${value}`).from).toBe(shown)
    expect(read(`To: ${value}`).to).toEqual([shown])
  })

  test('name 500 recipients', () => {
    const to = Array.from({ length: 500 }, (_, at) => `Ann ${at} <ann.lee.${at}@customers.test>`)
    expect(read(`To: ${to.join(',\r\n ')}`).to).toEqual(to)
    const half = (from: number) => to.slice(from, from + 250).join(',\r\n ')
    const { to: first, cc: second } = read(`To: ${half(0)}\r\nCc: ${half(250)}\r\nFrom: a@b.test`)
    expect([...first, ...second]).toEqual(to)
  })

  test('are bounded, however much there is', () => {
    const headers = read(
      `Subject: ${'s'.repeat(100_000)}\r\nTo: ${'a@b.test,'.repeat(50_000)}\r\n\r\n`,
    )
    expect(headers.subject).toHaveLength(2000)
    expect(headers.to.length).toBeLessThanOrEqual(500)
    expect(read(`${'X: y\r\n'.repeat(100_000)}Subject: far`).subject).toBe('')
  })

  test('can be stored whatever they are made of', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        'Subject: ',
        'From: ',
        'To:',
        '\r\n',
        '\n ',
        '=?utf-8?B?',
        '?=',
        '<',
        '>',
        '"',
        '(',
        ',',
        ';',
        ':',
        '\0',
        '\ud800',
        '@',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const headers = read(Buffer.from(pieces.join(''), 'utf16le'))
        const utf8 = read(pieces.join(''))
        for (const one of [headers, utf8]) {
          expect(isStorable(JSON.stringify(one).replaceAll('\\u0000', '\0'))).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })
})
