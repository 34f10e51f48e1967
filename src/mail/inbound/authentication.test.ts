import { Readable } from 'node:stream'

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { authenticateMessage, dmarcRefusal } from './authentication.ts'

const RECORDS: Readonly<Record<string, string[][]>> = {
  'TXT a.test': [['v=spf1 ip4:192.0.2.1 -all']],
  'TXT _dmarc.a.test': [['v=DMARC1; p=reject']],
  'TXT _dmarc.b.test': [['v=DMARC1; p=quarantine']],
}
const REQUEST = {
  address: '192.0.2.1',
  heloName: 'mx.a.test',
  sender: 'ann@a.test',
  hostname: 'mx.croft.test',
  authors: () => ['ann@a.test'],
}

const resolve = async (name: string, type: string) => {
  if (name.endsWith('lost.test')) throw Object.assign(new Error('lost'), { code: 'ETIMEOUT' })
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

describe('a message that is a whole buffer', () => {
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

describe('Authentication-Results', () => {
  const judged = (from: string, authors: readonly string[]) =>
    authenticateMessage(
      Buffer.from(`From: ${from}\r\n\r\nText\r\n`),
      { ...REQUEST, authors: () => authors },
      resolve,
    )

  test.each([
    [
      'one author',
      'ann@a.test',
      ['ann@a.test'],
      'dmarc=pass (p=REJECT arc=none) policy.dmarc=reject header.from=a.test header.d=a.test',
    ],
    [
      'two authors',
      'ann@a.test, bob@b.test',
      ['ann@a.test', 'bob@b.test'],
      'dmarc=fail (p=QUARANTINE arc=none) policy.dmarc=quarantine header.from=b.test header.d=b.test',
    ],
    [
      'an author that the library does not read',
      'ann@a.test',
      ['bob@b.test'],
      'dmarc=fail (p=QUARANTINE arc=none) policy.dmarc=quarantine header.from=b.test header.d=b.test',
    ],
    ['an author without a policy', 'ann@c.test', ['ann@c.test'], 'dmarc=none header.from=c.test'],
    [
      'an author whose policy cannot be found out',
      'ann@a.test, bob@lost.test',
      ['ann@a.test', 'bob@lost.test'],
      'dmarc=temperror header.from=lost.test',
    ],
    ['no author', 'Ann Lee', ['Ann Lee'], 'dmarc=none'],
  ])('has the DMARC that is stored, of %s', async (_, from, authors, expected) => {
    const { authentication, header } = await judged(from, authors)
    expect(header.match(/dmarc=.*/gs)).toEqual([`${expected}\r\n`])
    const { dmarc, fromDomain } = authentication
    expect(expected).toContain(`dmarc=${dmarc}`)
    expect(/header\.from=(\S+)/.exec(expected)?.[1] ?? null).toBe(fromDomain)
  })

  test('has it, and whole results, however many signatures there are', async () => {
    const { header, authentication } = await whole(`${SIGNATURE.repeat(300)}${HEADER}\r\nText\r\n`)
    expect(header.length).toBeLessThan(17_000)
    expect(header).toMatch(/;\r\n dmarc=pass .*\r\n$/)
    const results = header.slice(header.indexOf('Authentication-Results:')).split(';\r\n ').slice(1)
    expect(results.every((result) => /^(?:dkim|dmarc)=\w+ /.test(result))).toBe(true)
    expect(authentication.dmarc).toBe('pass')
  })
})

describe('a sender that cannot be authenticated in time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** DNS never answers for the names that a stranger signs with. */
  const slowly = (name: string, type: string) =>
    name.endsWith('slow.test') ? new Promise<never>(() => {}) : resolve(name, type)
  const signedSlowly = (author: string) => ({
    message: `${SIGNATURE.replace('d=a.test', 'd=slow.test')}From: ${author}\r\n\r\nText\r\n`,
    request: { ...REQUEST, authors: () => [author] },
  })

  test.each([
    ['ann@a.test', 'reject', '451'],
    ['bob@b.test', 'quarantine', undefined],
    ['cy@unlisted.test', null, undefined],
    ['dee@slow.test', null, undefined],
  ])('comes past no policy: %s', async (author, dmarcPolicy, refusal) => {
    const { message, request } = signedSlowly(author)
    const judging = authenticateMessage(Buffer.from(message), request, slowly)
    await vi.advanceTimersByTimeAsync(26_000)
    const { authentication } = await judging
    expect(authentication).toMatchObject({ dkim: 'temperror', dmarc: 'temperror', dmarcPolicy })
    expect(dmarcRefusal(authentication)?.responseCode.toString()).toBe(refusal)
  })

  test('is no sender whose message takes longer to arrive', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const arriving = async function* () {
      yield Buffer.from(`${HEADER}\r\n`)
      await arrived
      yield Buffer.from('Text\r\n')
    }
    const judging = authenticateMessage(
      Readable.toWeb(Readable.from(arriving())) as ReadableStream<Uint8Array>,
      REQUEST,
      resolve,
    )
    await vi.advanceTimersByTimeAsync(60_000)
    arrive()
    expect((await judging).authentication).toMatchObject({ spf: 'pass', dmarc: 'pass' })
  })
})
