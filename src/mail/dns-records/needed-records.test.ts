import { afterEach, describe, expect, test, vi } from 'vitest'

import { lookUp } from './lookup.ts'
import { dkimRecord, dmarcRecord, mxRecord, spfRecord } from './needed-records.ts'
import { zoneLine } from './site-dns-records.ts'

const KEY = {
  selector: 'croft1',
  state: 'active' as const,
  name: 'croft1._domainkey.one.test',
  value: `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`,
  createdAt: new Date(0),
  activatedAt: new Date(0),
  supersededAt: null,
  retiredAt: null,
}
const spf = spfRecord('one.test', ['include:spf.gateway.test', 'ip4:192.0.2.0/24'])

describe('what DNS has', () => {
  test.each([
    ['an MX here', mxRecord('one.test', 'MX.croft.test.'), ['5 a.test', '10 mx.croft.test'], true],
    ['an MX elsewhere', mxRecord('one.test', 'mx.croft.test'), ['10 mx.other.test'], false],
    ['all that SPF needs', spf, ['v=spf1 a +ip4:192.0.2.0/24 include:SPF.gateway.test -all'], true],
    ['half of it', spf, ['v=spf1 include:spf.gateway.test -all'], false],
    ['the opposite', spf, ['v=spf1 -include:spf.gateway.test ip4:192.0.2.0/24 -all'], false],
    ['SPF twice', spf, [spf.value, 'v=spf1 -all'], false],
    ['the key', dkimRecord(KEY), [KEY.value], true],
    ['the key alone', dkimRecord(KEY), [KEY.value.replace('v=DKIM1; k=rsa; ', '')], true],
    ['the key with blanks', dkimRecord(KEY), [KEY.value.replace('AAAA', 'AA AA')], true],
    ['another key', dkimRecord(KEY), ['v=DKIM1; k=rsa; p=BBBB'], false],
    ['a key that was revoked', dkimRecord(KEY), ['v=DKIM1; p='], false],
    ['the key for sha1', dkimRecord(KEY), [`${KEY.value}; h=sha1`], false],
    ['two keys', dkimRecord(KEY), [KEY.value, KEY.value], false],
    ['a DMARC policy', dmarcRecord('one.test'), ['v=DMARC1;p=reject; sp=none'], true],
    ['DMARC without one', dmarcRecord('one.test'), ['v=DMARC1; rua=mailto:a@one.test'], false],
    ['DMARC twice', dmarcRecord('one.test'), ['v=DMARC1; p=none', 'v=DMARC1; p=none'], false],
  ])('(%s) does or not', (_what, record, found, does) => {
    expect(record.satisfies(found)).toBe(does)
  })

  test.each([
    [spf, 'google-site-verification=x', false],
    [spf, 'v=spf10 -all', false],
    [spf, 'V=SPF1', true],
    [dmarcRecord('one.test'), 'v=DMARC12; p=none', false],
    [dmarcRecord('one.test'), 'v=DMARC1; p=none', true],
  ])('counts where it is of the kind (%#)', (record, found, counts) => {
    expect(record.isOfKind(found)).toBe(counts)
  })

  test('follows from what is needed: each suggestion satisfies itself', () => {
    const records = [
      mxRecord('one.test', 'mx.croft.test'),
      spf,
      spfRecord('one.test', []),
      dkimRecord(KEY),
      dmarcRecord('one.test'),
    ]
    for (const record of records) {
      expect(record.isOfKind(record.value) && record.satisfies([record.value])).toBe(true)
    }
  })

  test.each(['localhost', '192.0.2.1'])('cannot lead mail to %s', (host) => {
    expect(mxRecord('one.test', host).note).toContain('SMTP_HOSTNAME')
    expect(mxRecord('one.test', 'mx.croft.test').note).toBeNull()
  })
})

describe('a line of a zone file', () => {
  test('has a long text in strings of at most 255 bytes', () => {
    const line = zoneLine({ name: KEY.name, type: 'TXT', value: KEY.value })
    const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text]) => text ?? '')
    expect(line.startsWith('croft1._domainkey.one.test. 3600 IN TXT "v=DKIM1; k=rsa; p=A')).toBe(
      true,
    )
    expect(strings.map(({ length }) => length)).toEqual([255, KEY.value.length - 255])
    expect(strings.join('')).toBe(KEY.value)
  })

  test('ends the name of an exchange with a dot', () => {
    const record = mxRecord('one.test', 'mx.croft.test')
    expect(zoneLine(record)).toBe('one.test. 3600 IN MX 10 mx.croft.test.')
  })
})

describe('a question to DNS', () => {
  afterEach(() => void vi.useRealTimers())

  test('is given up after a while', async () => {
    vi.useFakeTimers()
    const answer = lookUp(() => new Promise(() => {}), 'one.test', 'TXT')
    await vi.advanceTimersByTimeAsync(8000)
    expect(await answer).toBeUndefined()
  })

  test.each([
    ['ENOTFOUND', []],
    ['ENODATA', []],
    ['ESERVFAIL', undefined],
    ['ETIMEOUT', undefined],
  ])('that ends with %s says so', async (code, expected) => {
    const failed = () => Promise.reject(Object.assign(new Error(code), { code }))
    expect(await lookUp(failed, 'one.test', 'TXT')).toEqual(expected)
  })

  test('is answered with texts', async () => {
    const mx = async () => [{ exchange: 'MX.croft.test.', priority: 10 }]
    expect(await lookUp(mx, 'one.test', 'MX')).toEqual(['10 mx.croft.test'])
    expect(await lookUp(async () => [['a', 'b']], 'one.test', 'TXT')).toEqual(['ab'])
  })
})
