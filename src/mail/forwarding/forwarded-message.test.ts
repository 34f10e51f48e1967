import { describe, expect, test } from 'vitest'

import { readMailHeaders } from '#mail/headers/mail-headers.ts'

import { forwardedMessage, inOwnName } from './forwarded-message.ts'

const TRACE =
  'Return-Path: <ann@author.test>\r\nReceived: from a.test ([192.0.2.1])\r\n by mx.test with ESMTP;\r\n Sun, 1 Mar 2026 12:00:00 +0000\r\n'
const forwarding = {
  mailbox: 'info@one.test',
  traceHeader: TRACE,
  key: Buffer.from('a key'),
}
const messageOf = (header: string): Buffer =>
  Buffer.from(`${header.replaceAll('\n', '\r\n')}\r\n\r\nBody \xff\r\n`, 'latin1')
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

describe('a forwarded message', () => {
  const raw = messageOf('From: Ann <ann@author.test>\nSubject: Hello')

  test('is what came, after the trace of its way and without the sender of the last one', () => {
    const forwarded = text(forwardedMessage(raw, forwarding))
    expect(forwarded.endsWith(text(raw))).toBe(true)
    expect(forwarded).toMatch(
      /^X-Forwarded-By-Mailbox: [\w-]{22}\r\nDelivered-To: info@one\.test\r\nReceived: from a\.test/,
    )
    expect(forwarded).not.toContain('Return-Path')
  })

  test('goes on by another mailbox, and by the same one no more', () => {
    const once = forwardedMessage(raw, forwarding)
    expect(() => forwardedMessage(once, forwarding)).toThrow('A loop')
    const twice = forwardedMessage(once, { ...forwarding, mailbox: 'info@two.test' })
    expect(() => forwardedMessage(twice, forwarding)).toThrow('A loop')
    // Who does not know the key cannot keep mail from being forwarded.
    const forged = messageOf('X-Forwarded-By-Mailbox: info@one.test\nDelivered-To: info@one.test')
    expect(text(forwardedMessage(forged, forwarding))).toContain('Body')
    expect(() => forwardedMessage(once, { ...forwarding, key: Buffer.from('other') })).not.toThrow()
  })

  test('goes no further than forty servers', () => {
    const hops = (count: number) => messageOf('Received: from x.test\n'.repeat(count).trimEnd())
    expect(() => forwardedMessage(hops(39), forwarding)).not.toThrow()
    expect(() => forwardedMessage(hops(40), forwarding)).toThrow('40 servers')
  })
})

describe('in its own name', () => {
  const renamed = (header: string) => inOwnName(messageOf(header), 'info@one.test')

  test('a message is from the mailbox, and answered to its author', () => {
    const message = renamed(
      'Subject: Hello\nFrom: =?utf-8?Q?J=C3=B6rg?= Maß\n <joerg@author.test>\nTo: info@one.test',
    )
    expect(readMailHeaders(message)).toMatchObject({
      from: '"Jörg Maß via info@one.test" <info@one.test>',
      replyTo: ['Jörg Maß <joerg@author.test>'],
      subject: 'Hello',
      to: ['info@one.test'],
    })
    expect(text(message)).toContain('\r\nX-Original-From: =?utf-8?Q?J=C3=B6rg?=')
    expect(text(message).endsWith('\r\n\r\nBody \xff\r\n')).toBe(true)
  })

  test('who asked for answers elsewhere still gets them there', () => {
    const message = renamed('From: a@author.test\nReply-To: other@author.test\nSender: s@a.test')
    expect(readMailHeaders(message)).toMatchObject({
      from: '"a@author.test via info@one.test" <info@one.test>',
      replyTo: ['other@author.test'],
    })
    expect(text(message)).not.toMatch(/^sender:/im)
  })

  test('no client gets a second From, or none', () => {
    for (const header of [
      'Subject: x',
      'From: a@b.test\nFROM: c@d.test',
      'From:',
      'from: "A\\" <x@y.test>" <ann@author.test>',
      `From: ${'Ü'.repeat(300)} <ann@author.test>`,
    ]) {
      const message = text(renamed(header))
      const head = message.slice(0, message.indexOf('\r\n\r\n'))
      const own = head.split('\r\n').filter((line) => /^from:/i.test(line))
      expect(own).toHaveLength(1)
      const { from } = readMailHeaders(Buffer.from(message, 'latin1'))
      expect(from).toMatch(/ via info@one\.test" <info@one\.test>$/)
    }
  })
})
