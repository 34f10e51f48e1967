import { Readable } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { authenticateMessage } from './authentication.ts'

const RECORDS: Readonly<Record<string, string[][]>> = {
  'TXT a.test': [['v=spf1 ip4:192.0.2.1 -all']],
  'TXT _dmarc.a.test': [['v=DMARC1; p=reject']],
}
const REQUEST = {
  address: '192.0.2.1',
  heloName: 'mx.a.test',
  sender: 'ann@a.test',
  hostname: 'mx.croft.test',
  authors: () => ['ann@a.test'],
}

const resolve = async (name: string, type: string) => {
  const found = RECORDS[`${type} ${name}`]
  if (!found) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  return found
}

const whole = (message: string) => authenticateMessage(Buffer.from(message), REQUEST, resolve)
/** The library reads all of it. */
const streamed = (message: string) =>
  authenticateMessage(
    Readable.toWeb(Readable.from([Buffer.from(message)])) as ReadableStream<Uint8Array>,
    REQUEST,
    resolve,
  )

const HEADER = 'From: Ann <ann@a.test>\r\nSubject: Hello\r\n'
const SIGNATURE = 'DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=one; h=from; bh=eA==; b=eA==\r\n'

describe('a message that is at hand as a whole', () => {
  test.each([
    ['has no signature', `${HEADER}\r\nText\r\n`, 'none'],
    ['speaks of one in its text', `${HEADER}\r\n${SIGNATURE}\r\n`, 'none'],
    ['has no text', `${HEADER}\r\n`, 'none'],
    ['has no end of its header', HEADER, 'none'],
    ['is signed', `${SIGNATURE}${HEADER}\r\nText\r\n`, 'neutral'],
    [
      'is signed, oddly written',
      `dkim-SIGNATURE :${SIGNATURE.slice(15)}${HEADER}\r\nText\r\n`,
      'neutral',
    ],
  ])('is judged as one that comes in pieces when it %s', async (_, message, dkim) => {
    const found = await whole(message)
    expect(found).toEqual(await streamed(message))
    expect(found.authentication).toMatchObject({ spf: 'pass', dmarc: 'pass', dkim })
  })
})
