import { domainToASCII } from 'node:url'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { authenticateMessage, dmarcRefusal } from './authentication.ts'

const RUNS = 2000
const RECORDS = /^_dmarc\.(?:bank|evil|xn--bnk-qla)\.test$/
const REQUEST = {
  address: '192.0.2.1',
  heloName: 'mx.evil.test',
  sender: 'eve@evil.test',
  hostname: 'mx.croft.test',
}

const word = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

const ADDRESSES = [
  'ceo@bank.test',
  'eve@evil.test',
  'ceo@BANK.test.',
  'a@b@bank.test',
  'ceo@bank.test@evil.test',
  'eve@evil.test@bank.test',
  '"ceo@bank.test"@evil.test',
  '"eve@evil.test"@bank.test',
  '@evil.test:ceo@bank.test',
  '@bank.test,@evil.test:eve@evil.test',
  'ceo@[192.0.2.9]',
  'ceo',
  '@bank.test',
  'ceo@',
  latin1('ceo@b\u00e4nk.test'),
  latin1('ceo@bank\u3002test'),
  latin1('ceo@\uff42ank.test'),
  latin1('ceo@ba\u00adnk.test'),
  latin1('ceo@ba\u200bnk.test'),
  latin1('ceo@bank.test\u00a0'),
  latin1('ceo@\u202ebank.test'),
  latin1('ceo\uff20bank.test'),
  'ceo@b\xe4nk.test',
  'ceo @ bank . test',
  'ceo@bank.test(evil.test)',
  'ceo@(x)bank.test',
  'ceo@"bank.test"',
  "'ceo@bank.test'",
  'mailto:ceo@bank.test',
  'ceo=40bank.test',
  'ceo@bank.test/x',
  'ceo@bank.test:25',
  'ceo%bank.test@evil.test',
]
const SIGNS = [
  ...'"<>(),;:\\@[]\'=? .'.split(''),
  '\r\n ',
  '\r\n\t',
  '\t',
  '\0',
  '\v',
  '\x7f',
  '\\"',
  '\\\\',
  '""',
  '<>',
  '()',
  'Group:',
  'Ann',
  latin1('\u00a0'),
  latin1('\u3000'),
  latin1('\u202e'),
  '\xa0',
  '\xe9',
  '\x1b$B',
  '\x1b(B',
  '\x1b(J',
  '=?utf-8?Q?',
  '?=',
  '=?x?Q?=2C?=',
  '=?utf-8?Q?"?=',
  '=?utf-8?Q?<?=',
  '=?utf-8?Q?(?=',
  word('<ceo@bank.test>'),
  word('ceo@bank.test'),
  word(','),
  word('"'),
]

const fields = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...SIGNS) },
      { weight: 3, arbitrary: fc.constantFrom(...ADDRESSES) },
      { weight: 2, arbitrary: fc.constantFrom(...ADDRESSES).map((one) => `<${one}>`) },
      { weight: 1, arbitrary: fc.constantFrom(...ADDRESSES).map((one) => `"${one}"`) },
      { weight: 1, arbitrary: fc.constantFrom(...ADDRESSES).map((one) => `Ann <${one}>, `) },
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((pieces) => pieces.join(''))

/** The banks and `evil.test` ask for `reject`; only what is of `evil.test` passes. */
async function judged(field: string) {
  const message = Buffer.from(`From: ${field}\r\nSubject: s\r\n\r\ntext\r\n`, 'latin1')
  const shown = readMailHeaders(message)
  const asked = new Set<string>()
  const resolve = async (name: string, type: string) => {
    if (type === 'TXT' && name.startsWith('_dmarc.')) asked.add(name.slice('_dmarc.'.length))
    if (type === 'TXT' && RECORDS.test(name)) return [['v=DMARC1; p=reject']]
    if (type === 'TXT' && name === 'evil.test') return [['v=spf1 ip4:192.0.2.1 -all']]
    throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  }
  const authors = () => shown.authorIdentifiers
  try {
    const found = await authenticateMessage(message, { ...REQUEST, authors }, resolve)
    return { shown, asked, found, isRefused: dmarcRefusal(found.authentication) !== undefined }
  } catch (error) {
    if (error instanceof SmtpReply) return { shown, asked, found: undefined, isRefused: true }
    throw error
  }
}

/** The host that a person reads in an author as it is shown, by its letters; undefined where there is none. */
function hostShown(author: string): string | undefined {
  const address = /<([^<>]*)>$/.exec(author)?.[1] ?? author
  const [, domain = ''] =
    /^.*@(.*)$/su.exec(address.normalize('NFKC').replaceAll('\u3002', '.')) ?? []
  const name = /[\w\u{80}-\u{10FFFF}-][\w\u{80}-\u{10FFFF}.-]*/u.exec(domain)?.[0]
  const host = name?.toLowerCase().replace(/\.+$/, '')
  // Of numbers alone or with an empty label, it is not in DNS.
  const isName = host !== undefined && !/^[\d.]+$|\.\./.test(host)
  return isName ? domainToASCII(host) || undefined : undefined
}

describe('the domains that DMARC is asked for', () => {
  test('are those of all authors that are shown, whatever is in From', async () => {
    await fc.assert(
      fc.asyncProperty(fields, async (field) => {
        const { shown, asked, found, isRefused } = await judged(field)
        const authors = [shown.from, shown.fromAddress, ...shown.authors]
        const hosts = authors.flatMap((author) => hostShown(author) ?? [])
        expect(found?.header).not.toBe('')
        const left = found ? hosts.filter((host) => !asked.has(host)) : []
        expect(left).toEqual([])
        const isForged = hosts.some(
          (host) => host !== 'evil.test' && RECORDS.test(`_dmarc.${host}`),
        )
        expect(isRefused || !isForged).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  test.each([
    'ceo@bank.test',
    "'ceo@bank.test'",
    'ceo@bank.test"',
    'Ann <ceo@bank.test>, Eve <eve@evil.test>',
    'Eve <eve@evil.test>, Ann <ceo@bank.test>',
    latin1('ceo@ba\u00adnk.test('),
    latin1('ceo@\uff42ank.test('),
    latin1('ceo\uff20bank.test'),
    '"ceo@bank.test" [',
    '"eve@evil.test ceo@bank.test" [',
    '"ceo@bank.test,eve@evil.test" [',
    '@bank.test:',
  ])('have that of the bank: %s', async (field) => {
    const { asked, isRefused } = await judged(field)
    expect([...asked]).toContain('bank.test')
    expect(isRefused).toBe(true)
  })

  test.each([
    'Eve <eve@evil.test>',
    '"ceo@bank.test" <eve@evil.test>',
    '"ceo@bank.test"@evil.test',
    'Eve <EVE@Evil.test.>',
  ])('have no other where the author is of one: %s', async (field) => {
    const { asked, found, isRefused } = await judged(field)
    expect([...asked].filter((domain) => domain.includes('.'))).toEqual(['evil.test'])
    expect({ dmarc: found?.authentication.dmarc, isRefused }).toEqual({
      dmarc: 'pass',
      isRefused: false,
    })
  })

  test('are none where no author has one', async () => {
    const { asked, found } = await judged('Ann Lee')
    expect([...asked]).toEqual([])
    expect(found?.authentication).toMatchObject({ dmarc: 'none', fromDomain: null })
  })
})
