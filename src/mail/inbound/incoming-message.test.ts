import { createHash } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { IncomingMessage } from './incoming-message.ts'

const KIB = 1024

async function* chunked(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, { size = 7, maxBytes = 10_000_000 } = {}) {
  const message = new IncomingMessage(maxBytes)
  let passed = ''
  for await (const chunk of message.read(chunked(text, size))) {
    passed += Buffer.from(chunk).toString('latin1')
  }
  return { message, passed }
}

const received = (times: number): string => 'Received: by a.test\r\n'.repeat(times)

describe('a message on its way in', () => {
  test.each([1, 2, 3, 7, 1000])('passes in chunks of %i, byte for byte', async (size) => {
    const text = 'Subject: a\r\n\r\nb\r\n.\r\n\xff\xfe\r\n'
    const { message, passed } = await read(text, { size })
    expect(passed).toBe(text)
    expect(message.sizeBytes).toBe(text.length)
    const bytes = Buffer.from(text, 'latin1')
    expect(message.digest()).toEqual(createHash('sha256').update(bytes).digest())
    expect(message.headerBlock()).toEqual(bytes)
  })

  test('shows 256 KiB of its header', async () => {
    const text = `X: ${'x'.repeat(300 * KIB)}\r\n\r\nbody\r\n`
    const { message } = await read(text, { size: 1000 })
    expect(message.headerBlock()).toHaveLength(256 * KIB)
  })

  test.each<[string, string, string]>([
    ['larger than allowed', `Subject: a\r\n\r\n${'x'.repeat(200)}\r\n`, '5.3.4'],
    ['a hundred and one hops', `${received(101)}\r\n\r\n`, '5.4.6'],
    ['two From fields', 'From: a@a.test\r\nTo: b\r\nFrom: c@c.test\r\n\r\nb\r\n', '5.7.1'],
    ['From in another case', 'FROM: a@a.test\r\nfrom: a@a.test\r\n\r\nb\r\n', '5.7.1'],
    ['a blank behind From', 'From: a@a.test\r\nFrom \t: c@c.test\r\n\r\nb\r\n', '5.7.1'],
    ['a folded From', 'From: a@a.test\r\nFrom\r\n : c@c.test\r\n\r\nb\r\n', '5.7.1'],
    ['a blank before From', ' From: a@a.test\r\nFrom: c@c.test\r\n\r\nb\r\n', '5.7.1'],
    ['a NUL in From', 'From: a@a.test\r\nFr\0om: c@c.test\r\n\r\nb\r\n', '5.7.1'],
    ['an empty From', 'From: a@a.test\r\nFrom:\r\n\r\nb\r\n', '5.7.1'],
    [
      'From far behind another',
      `From: a@a.test\r\nX: ${'x'.repeat(300 * KIB)}\r\nFrom: c@c.test\r\n\r\nb\r\n`,
      '5.7.1',
    ],
    ['a bare LF', 'Subject: a\r\n\r\nb\nc\r\n', '5.6.0'],
    ['a bare LF in its header', 'Subject: a\nTo: b\r\n\r\n', '5.6.0'],
    ['a bare CR', 'Subject: a\r\n\r\nb\rc\r\n', '5.6.0'],
  ])('is refused: %s', async (_what, text, status) => {
    const maxBytes = status === '5.3.4' ? 100 : 1_000_000
    for (const size of [1, 2, 3, 5000]) {
      await expect(read(text, { size, maxBytes })).rejects.toThrow(status)
    }
  })

  test('is refused when its header does not end', async () => {
    const text = 'X-Long: y\r\n'.repeat(200_000)
    await expect(read(text, { size: 65_536 })).rejects.toThrow('5.3.4 The header')
  })

  test.each([
    'From: a@a.test\r\nX: y\r\n From: c@c.test\r\n\r\nb\r\n',
    'From: a@a.test\r\nX-From: c\r\nResent-From: d@d.test\r\n\r\nFrom: e@e.test\r\n',
    'From a@a.test Sat Nov 28 10:00:00 2026\r\nFrom: a@a.test\r\n\r\nb\r\n',
    'From: a@a.test,\r\n b@a.test\r\n\r\n--x\r\nFrom: c@c.test\r\n',
    '\r\nFrom: a@a.test\r\nFrom: b@a.test\r\n',
    'Subject: no author\r\n\r\nb\r\n',
  ])('may have one From field, and the word elsewhere: %j', async (text) => {
    for (const size of [1, 2, 3, 5000]) {
      expect((await read(text, { size })).message.sizeBytes).toBe(text.length)
    }
  })

  test('may have a hundred hops, and more of the word in its text', async () => {
    const text = `${received(100)}\r\n${received(50)}`
    expect((await read(text, { size: 100 })).message.sizeBytes).toBe(text.length)
  })
})
