import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { DnsAnswer } from '#platform/dns/dns-resolver.ts'
import { dnsOf, mailSettings } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const records: Record<string, DnsAnswer | string> = {
  'MX one.test': [{ exchange: 'MX.croft.test', priority: 5 }],
  'TXT one.test': [['site-verification=1'], ['v=spf1 include:', 'spf.gateway.test -all']],
  'TXT _dmarc.one.test': [['v=DMARC1; p=reject']],
  'MX two.test': [{ exchange: 'mx.other.test', priority: 5 }],
  'TXT two.test': [['v=spf1 -all'], ['\u001b[31mred']],
  'TXT _dmarc.two.test': 'ESERVFAIL',
}

let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  const mail = mailSettings({ spfMechanisms: ['include:spf.gateway.test'] })
  stack = await startStack({
    config: { mail },
    platform: { dns: (name, type) => dnsOf(records)(name, type) },
  })
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => stack[Symbol.asyncDispose]())

const run = (...args: string[]) => croft(args, env)
async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}
interface Row {
  readonly purpose: string
  readonly state: string
  readonly found: readonly string[]
  readonly zone: string
}
const states = async (host: string) =>
  (await json('site', 'dns', host)).records.map(({ purpose, state }: Row) => [purpose, state])

describe('croft site dns', () => {
  test('tells what is there, missing, different and not known', async () => {
    expect(await states('one.test')).toEqual([
      ['receiving', 'present'],
      ['SPF', 'present'],
      ['DKIM', 'missing'],
      ['DMARC', 'present'],
    ])
    const two = await json('site', 'dns', 'two.test')
    expect(two.records.map(({ state, found }: Row) => [state, found])).toEqual([
      ['different', ['5 mx.other.test']],
      ['different', ['v=spf1 -all']],
      ['missing', []],
      ['unknown', []],
    ])
  })

  test('prints lines for a zone file', async () => {
    const { out } = await run('site', 'dns', 'two.test')
    const { items } = await json('site', 'dkim', 'show', 'two.test')
    const [{ value }] = items
    expect(out.split('\n\n')[1]?.trimEnd().split('\n')).toEqual([
      'two.test. 3600 IN MX 10 mx.croft.test.',
      'two.test. 3600 IN TXT "v=spf1 include:spf.gateway.test ~all"',
      `croft1._domainkey.two.test. 3600 IN TXT "${value.slice(0, 255)}" "${value.slice(255)}"`,
      '_dmarc.two.test. 3600 IN TXT "v=DMARC1; p=none; rua=mailto:postmaster@two.test"',
    ])
    expect(out).toContain('two.test has: 5 mx.other.test\n')
    expect(out).toMatch(/^receiving +different +MX +two\.test$/m)
    expect(out).toMatch(/^DKIM +missing +TXT +croft1\._domainkey\.two\.test +croft1 is active$/m)
  })

  test('follows a rotation', async () => {
    const pending = await json('site', 'dkim', 'rotate', 'one.test')
    expect(pending).toMatchObject({ selector: 'croft2', state: 'pending', activatedAt: null })
    const refused = await run('site', 'dkim', 'activate', 'one.test')
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('DkimRecordNotPublished'),
    })
    records[`TXT ${pending.name}`] = [[pending.value]]
    expect(await states('one.test')).toContainEqual(['DKIM', 'present'])
    expect((await run('site', 'dkim', 'rotate', 'one.test')).out).toContain('croft2 is pending')
    expect((await run('site', 'dkim', 'activate', 'one.test')).out).toBe(
      'Mail of one.test is signed with croft2 now.\n',
    )
    const { out } = await run('site', 'dkim', 'show', 'one.test')
    expect(out).toMatch(/^croft2 +active +created \S+ +active since \S+$/m)
    expect(out).toMatch(
      /^croft1 +retiring +created \S+ +active since \S+ +record needed until \S+$/m,
    )
    await run('site', 'dkim', 'rotate', 'one.test')
    const forced = await json('site', 'dkim', 'activate', 'one.test', '--force')
    expect(forced).toMatchObject({ selector: 'croft3', state: 'active' })
  })

  test('says what is wrong with the call', async () => {
    expect(await run('site', 'dns')).toMatchObject({ code: 2 })
    expect(await run('site', 'dns', 'nowhere.test')).toMatchObject({ code: 1 })
    expect(await run('site', 'dkim', 'renew', 'one.test')).toMatchObject({ code: 2 })
    const wrongKey = await croft(['site', 'dkim', 'rotate', 'one.test'], {
      ...env,
      CROFT_OPERATOR_KEY: 'another-operator-key-0123456789',
    })
    expect(wrongKey).toMatchObject({ code: 1, err: expect.stringContaining('Unauthorized') })
  })
})
