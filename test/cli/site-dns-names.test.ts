import type { Answer } from 'dns-packet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { systemDns } from '#platform/dns/system-dns.ts'
import { DnsServer, NO_RESPONSE } from '#test/dns-server.ts'
import { mailSettings } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const HERE = '192.0.2.1'
const HERE_6 = '2001:db8::1'
const ELSEWHERE = '198.51.100.7'

type Zone = Readonly<Record<string, readonly string[]>>

/** What a zone says, by `TYPE name`; an alias answers every type, as name servers do. */
const answersIn = (zone: Zone, name: string, type: string): Answer[] => {
  const [alias] = zone[`CNAME ${name}`] ?? []
  if (alias !== undefined) {
    const record: Answer = { type: 'CNAME', name, ttl: 0, data: alias }
    return type === 'CNAME' ? [record] : [record, ...answersIn(zone, alias, type)]
  }
  if (type !== 'A' && type !== 'AAAA') return []
  return (zone[`${type} ${name}`] ?? []).map((data): Answer => ({ type, name, ttl: 0, data }))
}

let stack: Stack
let dns: DnsServer
const cleanUp = new AsyncDisposableStack()
let zone: Zone = {}
/** Of these the server says nothing. */
let silent: readonly string[] = []
let env: Record<string, string>
beforeAll(async () => {
  dns = cleanUp.use(
    await DnsServer.start((name, type) =>
      silent.includes(name) ? NO_RESPONSE : { answers: answersIn(zone, name, type) },
    ),
  )
  const [address = '', port = ''] = dns.address.split(':')
  stack = cleanUp.use(
    await startStack({
      config: { mail: mailSettings({}) },
      platform: { dns: systemDns([{ address, port: Number(port) }]) },
    }),
  )
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  const names = { adminDomain: 'office.example', authDomain: 'id.one.test' }
  await stack.portal('PATCH', '/sites/one.test', { authDomain: 'auth.one.test' })
  await stack.portal('PATCH', '/sites/one.test', names)
})
afterAll(() => cleanUp.disposeAsync())

interface Row {
  readonly purpose: string
  readonly name: string
  readonly state: string
  readonly found: readonly string[]
}
const NAMES = ['administration', 'sign-in', 'former sign-in']
async function rows(host: string): Promise<readonly Row[]> {
  const ran = await croft(['site', 'dns', host, '--json'], env)
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out).records.filter(({ purpose }: Row) => NAMES.includes(purpose))
}
const signIn = async () => {
  const found = (await rows('one.test')).find(({ purpose }) => purpose === 'sign-in')
  return found && [found.state, found.found]
}

describe('croft site dns', () => {
  test('lists the names that a site has, former ones with them, and none of a site without', async () => {
    zone = { 'A one.test': [HERE] }
    expect((await rows('one.test')).map(({ purpose, name }) => [purpose, name])).toEqual([
      ['administration', 'office.example'],
      ['sign-in', 'id.one.test'],
      // The domain, where visitors signed in at first, is the site's own.
      ['former sign-in', 'auth.one.test'],
    ])
    expect(await rows('two.test')).toEqual([])
  })

  test('prints what to do, for a zone file too', async () => {
    zone = {
      'A one.test': [HERE],
      'A id.one.test': [ELSEWHERE],
      'CNAME office.example': ['one.test'],
    }
    const { out } = await croft(['site', 'dns', 'one.test'], env)
    expect(out).toMatch(
      /^sign-in +different +CNAME +id\.one\.test +its visitors sign in there; an address of one\.test does as well$/m,
    )
    expect(out).toMatch(/^administration +present +CNAME +office\.example +/m)
    expect(out).toMatch(/^former sign-in +missing +CNAME +auth\.one\.test +.*--end-former-auth/m)
    expect(out).toContain(`id.one.test has: ${ELSEWHERE}\n`)
    expect(out).toMatch(/^id\.one\.test\. 3600 IN CNAME one\.test\.$/m)
  })

  test.each<[string, Zone, string, readonly string[]]>([
    ['nothing', {}, 'missing', []],
    [
      'an address of the domain',
      { 'A id.one.test': [ELSEWHERE, HERE] },
      'present',
      [ELSEWHERE, HERE],
    ],
    ['an IPv6 address of it', { 'AAAA id.one.test': [HERE_6] }, 'present', [HERE_6]],
    ['another address', { 'A id.one.test': [ELSEWHERE] }, 'different', [ELSEWHERE]],
    [
      'an alias of the domain',
      { 'CNAME id.one.test': ['one.test'] },
      'present',
      ['one.test', HERE, HERE_6],
    ],
    [
      'an alias of another name here',
      { 'CNAME id.one.test': ['croft.example'], 'A croft.example': [HERE] },
      'present',
      ['croft.example', HERE],
    ],
    [
      'an alias that leads elsewhere',
      { 'CNAME id.one.test': ['other.example'], 'A other.example': [ELSEWHERE] },
      'different',
      ['other.example', ELSEWHERE],
    ],
    [
      'an alias without a target',
      { 'CNAME id.one.test': ['no.example'] },
      'different',
      ['no.example'],
    ],
  ])('says of a name with %s what it is', async (_what, records, state, found) => {
    zone = { 'A one.test': [HERE], 'AAAA one.test': [HERE_6], ...records }
    const [is, has] = (await signIn()) ?? []
    expect([is, has]).toEqual([state, found])
  })

  test('does not compare with a domain that has no address yet, but with its name', async () => {
    zone = { 'A id.one.test': [HERE] }
    expect(await signIn()).toEqual(['unknown', [HERE]])
    zone = { 'CNAME id.one.test': ['one.test'] }
    expect(await signIn()).toEqual(['present', ['one.test']])
  })

  test('says that a name is not known of which DNS is silent', async () => {
    zone = { 'A one.test': [HERE] }
    silent = ['id.one.test']
    expect(await signIn()).toEqual(['unknown', []])
    silent = []
  })
})
