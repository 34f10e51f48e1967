import { expect, test } from 'vitest'

import { prepareRawMessage } from './raw-message.ts'

const SENDER = {
  localPart: 'info',
  domain: 'one.test',
  headerId: 'msg_1@one.test',
  date: new Date('2026-11-20T12:00:00Z'),
}
const prepared = (...lines: readonly string[]): string =>
  prepareRawMessage(Buffer.from(lines.join('\r\n')), SENDER).toString()

test('a message that lacks nothing is left as it is', () => {
  const lines = [
    'From: Info <Info+x@one.test>',
    'Date: now',
    'Message-ID: <a@b>',
    '',
    'Größe',
    '.',
    '',
  ]
  expect(prepared(...lines)).toBe(lines.join('\r\n'))
})

test('date and id are added, and who is in bcc is taken out', () => {
  const lines = ['Bcc: eve@else.test,', '\tbob@else.test', 'From: info@one.test', '', 'Text']
  expect(prepared(...lines)).toBe(
    [
      'From: info@one.test',
      'Date: Fri, 20 Nov 2026 12:00:00 +0000',
      'Message-ID: <msg_1@one.test>',
      '',
      'Text',
    ].join('\r\n'),
  )
})

test('lines that end as on Unix end as in mail', () => {
  const message = Buffer.from('From: info@one.test\nDate: x\nMessage-ID: <a>\n\na\nb')
  expect(prepareRawMessage(message, SENDER).toString()).toContain('\r\n\r\na\r\nb')
})

test.each([
  ['another author', ['From: ann@one.test']],
  ['an author elsewhere', ['From: info@two.test']],
  ['two authors', ['From: info@one.test, ann@one.test']],
  ['two fields for one author', ['From: info@one.test', 'From: ann@one.test']],
  ['an author in a comment', ['From: (info@one.test) ann@one.test']],
  ['no author', ['Subject: x']],
  ['another sender', ['From: info@one.test', 'Sender: ann@one.test']],
  ['a line that is no field', ['From: info@one.test', 'nothing']],
  ['a field that begins with a fold', [' x', 'From: info@one.test']],
])('%s is refused', (_, lines) => {
  expect(() => prepared(...lines, '', 'Text')).toThrow(/^raw: /)
})

test('a message without a body is refused', () => {
  expect(() => prepared('From: info@one.test')).toThrow('raw: has no empty line')
})
