import { describe, expect, test } from 'vitest'

import { preparedMessage, prepareRawMessage } from './raw-message.ts'

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

test.each([
  'Lee, Ann <info@one.test>',
  '"Lee, Ann" <info@one.test>',
  '=?utf-8?Q?Lee=2C_Ann?= <info@one.test>',
  'Ann\r\n\t<info@one.test>',
])('an author who is named %j is the mailbox', (author) => {
  expect(prepared(`From: ${author}`, '', 'Text')).toContain(author)
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
  ['an author in what an escape hides', ['From: \u001B$B<ann@one.test>\u001B(B <info@one.test>']],
  ['an author behind an escape', ['From: \u001B(I <info@one.test>']],
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

describe('a message that comes in pieces', () => {
  async function inPieces(bytes: Buffer, size: number): Promise<string> {
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const found: Uint8Array[] = []
    for await (const piece of preparedMessage(pieces(), SENDER)) found.push(piece)
    return Buffer.concat(found).toString('latin1')
  }

  test('becomes the same, however they are cut', async () => {
    const lines = ['Bcc: eve@else.test', 'From: info@one.test', 'Subject: x', '', 'a', '', 'b', '']
    const message = Buffer.from(lines.join('\r\n'))
    const whole = prepareRawMessage(message, SENDER).toString('latin1')
    for (const size of [1, 2, 3, 7, 1000]) expect(await inPieces(message, size)).toBe(whole)
  })

  test('is refused for a header without an end, or of more than 256 KiB', async () => {
    const endless = Buffer.from('From: info@one.test\r\nSubject: x\r\n')
    await expect(inPieces(endless, 10)).rejects.toThrow('has no empty line')
    const long = Buffer.from(`From: info@one.test\r\nX: ${'y'.repeat(256 * 1024)}\r\n\r\n`)
    await expect(inPieces(long, 64 * 1024)).rejects.toThrow('more than 262144 bytes')
    await expect(inPieces(long, 1_000_000)).rejects.toThrow('more than 262144 bytes')
  })
})
