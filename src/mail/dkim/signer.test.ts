import fc from 'fast-check'
import { type DNSResolver, dkimVerify } from 'mailauth'
import { beforeAll, describe, expect, test } from 'vitest'

import { newKeyPair } from '#identity/keys/key-pair.ts'
import { importSigningKey } from '#identity/keys/model.ts'

import type { DkimSigningKey } from './keys.ts'
import { dkimPublicKey } from './model.ts'
import { DkimSigner } from './signer.ts'

const IDENTITY = {
  siteId: 'site_aaaaaaaaaaaa',
  domain: 'one.test',
  signedAt: new Date('2026-11-24T06:00:00Z'),
}
const HEAD = [
  'Received: from a by b',
  'From: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <info@one.test>',
  'To: vic@example.org,\r\n\teve@example.org',
  'Subject:  two   blanks\t here ',
  'Date: Fri, 20 Nov 2026 12:00:00 +0000',
  'Message-ID: <a@one.test>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain',
]
const MESSAGE = `${HEAD.join('\r\n')}\r\n\r\nHello\r\n`

let key: DkimSigningKey
let signer: DkimSigner
let resolver: DNSResolver
beforeAll(async () => {
  const pair = await newKeyPair()
  key = { selector: 'croft1', key: await importSigningKey(pair.privateKey) }
  signer = new DkimSigner({ signingKey: async () => key })
  const record = `v=DKIM1; k=rsa; p=${await dkimPublicKey(pair)}`
  resolver = async (name) => {
    if (name === 'croft1._domainkey.one.test') return [[record]]
    throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
  }
})

const sign = (message: string | Uint8Array, chunk = 7) =>
  signer.sign(IDENTITY, () => pieces(Buffer.from(message), chunk))

function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function verdict(message: string | Uint8Array): Promise<string | undefined> {
  const { results } = await dkimVerify(Buffer.from(message), { resolver, strict: true })
  expect(results).toHaveLength(1)
  return results[0]?.status.result
}

describe('a signature', () => {
  test('verifies, and names From one time more than it is there', async () => {
    const field = await sign(MESSAGE)
    expect(field).toMatch(
      /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;\r\n d=one\.test; s=croft1; t=1795500000;/,
    )
    const names = /h=([^;]+);/.exec(field)?.[1]?.replaceAll(/\s/g, '').split(':')
    expect(names).toEqual(
      'from to subject date message-id mime-version content-type from'.split(' '),
    )
    expect(Math.max(...field.split('\r\n').map((line) => line.length))).toBeLessThan(79)
    expect(await verdict(field + MESSAGE)).toBe('pass')
  })

  test('is the same for the same message, key and time', async () => {
    expect(await sign(MESSAGE, 1)).toBe(await sign(MESSAGE, 4096))
  })

  test('survives what relays do to blanks and trace fields', async () => {
    const field = await sign(MESSAGE)
    const relayed = MESSAGE.replace('  two   blanks\t here ', ' two blanks here').replace(
      'Hello\r\n',
      'Hello  \r\n\r\n',
    )
    expect(await verdict(`Received: from c by d\r\n${field}${relayed}`)).toBe('pass')
  })

  test.each([
    ['the body', 'Hello', 'Hullo'],
    ['the subject', 'two', 'too'],
    ['From', 'info@one.test', 'infos@one.test'],
    ['a second From, above', 'From:', 'From: eve@evil.test\r\nFrom:'],
    ['a second From, below', '\r\nTo:', '\r\nFrom: eve@evil.test\r\nTo:'],
    ['a second Subject', '\r\nDate:', '\r\nSubject: other\r\nDate:'],
  ])('fails when %s is changed', async (_what, before, after) => {
    const field = await sign(MESSAGE)
    expect(MESSAGE).toContain(before)
    expect(await verdict(field + MESSAGE.replace(before, after))).not.toBe('pass')
  })

  test('fails with another key under the same selector', async () => {
    const other = { ...key, key: await importSigningKey((await newKeyPair()).privateKey) }
    const forged = new DkimSigner({ signingKey: async () => other })
    const field = await forged.sign(IDENTITY, () => [Buffer.from(MESSAGE)])
    expect(await verdict(field + MESSAGE)).toBe('fail')
  })

  test('verifies whatever the body holds, in pieces of any size', async () => {
    const piece = fc.oneof(
      fc.constantFrom('\r\n', '\r\n\r\n', ' ', '\t', ' \r\n', '.', '\r', 'ü', '\0'),
      fc.string({ maxLength: 8 }).map((text) => text.replaceAll('\n', '')),
    )
    const body = fc.array(piece, { maxLength: 40 }).map((texts) => texts.join(''))
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 50 }), async (text, chunk) => {
        const message = `${HEAD.join('\r\n')}\r\n\r\n${text}`
        expect(await verdict((await sign(message, chunk)) + message)).toBe('pass')
      }),
      { numRuns: 300 },
    )
  })

  test('verifies of 25 MiB that come in pieces', async () => {
    const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`)
    const lines = Array.from({ length: Math.ceil((25 * 1024 * 1024) / line.length) }, () => line)
    const message = Buffer.concat([Buffer.from(MESSAGE), ...lines])
    const field = await sign(message, 64 * 1024)
    expect(await verdict(Buffer.concat([Buffer.from(field), message]))).toBe('pass')
  })

  test('verifies of a message without a body', async () => {
    for (const message of [`${HEAD.join('\r\n')}\r\n\r\n`, `${HEAD.join('\r\n')}\r\n`]) {
      expect(await verdict((await sign(message)) + message)).toBe('pass')
    }
  })

  test('is refused to a message without From, or with a head that never ends', async () => {
    await expect(sign('To: a@b.test\r\n\r\nx')).rejects.toThrow('without From')
    const endless = `From: a@one.test\r\nX: ${'x'.repeat(1024 * 1024)}`
    await expect(sign(endless, 65_536)).rejects.toThrow('too long')
  })

  test('fails to be made when the message breaks off', async () => {
    async function* broken() {
      yield Buffer.from(MESSAGE)
      throw new Error('the store is away')
    }
    await expect(signer.sign(IDENTITY, broken)).rejects.toThrow('the store is away')
  })
})
