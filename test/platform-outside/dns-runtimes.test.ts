import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { DnsServer, type DnsReply, NO_RESPONSE, txt } from '#test/dns-server.ts'
import { describeOn } from '#test/on-runtimes.ts'
import { Script } from '#test/runtimes.ts'

const FIXTURE = new URL('fixtures/dns.ts', import.meta.url)
const key = (bits: number) => `v=DKIM1; k=rsa; p=${'A'.repeat(Math.ceil((bits / 8 + 38) / 3) * 4)}`
const SPF = `v=spf1 ${'ip4:192.0.2.1 '.repeat(42)}-all`

const RECORDS: Readonly<Record<string, DnsReply>> = {
  'TXT key2048.test': { answers: [txt('key2048.test', key(2048))] },
  'TXT key4096.test': { answers: [txt('key4096.test', key(4096))] },
  'TXT spf.test': { answers: [txt('spf.test', SPF), txt('spf.test', 'other')] },
  'TXT huge.test': { answers: [txt('huge.test', 'x'.repeat(4000))] },
  'A host.test': {
    answers: [
      { type: 'A', name: 'host.test', ttl: 300, data: '192.0.2.7' },
      { type: 'A', name: 'other.test', ttl: 300, data: '192.0.2.8' },
    ],
  },
  'AAAA host.test': {
    answers: [{ type: 'AAAA', name: 'host.test', ttl: 300, data: '2001:db8::7' }],
  },
  'MX host.test': {
    answers: [
      {
        type: 'MX',
        name: 'host.test',
        ttl: 300,
        data: { preference: 5, exchange: 'Mx.host.test' },
      },
    ],
  },
  'PTR 7.2.0.192.in-addr.arpa': {
    answers: [{ type: 'PTR', name: '7.2.0.192.in-addr.arpa', ttl: 300, data: 'host.test' }],
  },
  'A alias.test': {
    answers: [
      { type: 'CNAME', name: 'alias.test', ttl: 300, data: 'Second.test' },
      { type: 'CNAME', name: 'second.test', ttl: 300, data: 'host.test' },
      { type: 'A', name: 'host.test', ttl: 300, data: '192.0.2.7' },
    ],
  },
  'CNAME alias.test': {
    answers: [{ type: 'CNAME', name: 'alias.test', ttl: 300, data: 'host.test' }],
  },
  'A half.test': {
    authorities: [],
    answers: [{ type: 'CNAME', name: 'half.test', ttl: 300, data: 'host.test' }],
  },
  'A round.test': {
    authorities: [],
    answers: [{ type: 'CNAME', name: 'round.test', ttl: 300, data: 'round.test' }],
  },
  'TXT host.test': {},
  'TXT broken.test': { rcode: 'SERVFAIL' },
  'TXT refused.test': { rcode: 'REFUSED' },
  'TXT silent.test': NO_RESPONSE,
  'TXT cut.test': {
    answers: [txt('cut.test', 'x')],
    sent: (response) => [response.subarray(0, -1)],
  },
  'TXT xn--bcher-kva.test': { answers: [txt('xn--bcher-kva.test', 'found')] },
}

describeOn(['bun', 'node', 'deno'], 'DNS on %s', (runtime) => {
  let first: DnsServer
  let second: DnsServer
  let script: Script
  const cleanUp = new AsyncDisposableStack()
  beforeAll(async () => {
    first = cleanUp.use(await DnsServer.start(() => undefined))
    second = cleanUp.use(await DnsServer.start(() => undefined))
  })
  beforeEach(() => {
    for (const server of [first, second]) {
      server.zone = (name, type) => RECORDS[`${type} ${name}`]
      server.seen.length = 0
    }
    script = new Script(runtime, FIXTURE, [String(first.port), String(second.port)])
    return () => script[Symbol.asyncDispose]()
  })
  afterAll(() => cleanUp.disposeAsync())

  async function ask(type: string, name: string, times = 1) {
    script.tell(JSON.stringify({ name, type, times }))
    const answers = await script.next()
    return times === 1 ? answers[0] : answers
  }

  test('has a long TXT record as the strings of one', async () => {
    const [record] = await ask('TXT', 'key2048.test')
    expect(record.map(({ length }: string) => length)).toEqual([255, key(2048).length - 255])
    expect(record.join('')).toBe(key(2048))
    expect((await ask('TXT', 'key4096.test')).map((each: string[]) => each.join(''))).toEqual([
      key(4096),
    ])
    expect((await ask('TXT', 'spf.test')).map((each: string[]) => each.join(''))).toEqual([
      SPF,
      'other',
    ])
    expect(first.seen.map(({ transport, edns }) => [transport, edns])).toEqual(
      Array(3).fill(['udp', true]),
    )
  })

  test('asks over TCP for what no datagram holds', async () => {
    expect((await ask('TXT', 'huge.test'))[0].join('')).toBe('x'.repeat(4000))
    expect(first.seen.map(({ transport }) => transport)).toEqual(['udp', 'tcp'])
  })

  test.each([
    ['A', 'host.test', ['192.0.2.7']],
    ['AAAA', 'host.test', ['2001:db8::7']],
    ['MX', 'HOST.test.', [{ priority: 5, exchange: 'mx.host.test' }]],
    ['PTR', '7.2.0.192.in-addr.arpa', ['host.test']],
    ['A', 'alias.test', ['192.0.2.7']],
    ['CNAME', 'alias.test', ['host.test']],
    ['A', 'half.test', ['192.0.2.7']],
    ['TXT', 'bücher.test', [['found']]],
    ['A', 'round.test', 'EBADRESP'],
    ['TXT', 'host.test', 'ENODATA'],
    ['TXT', 'nowhere.test', 'ENOTFOUND'],
    ['TXT', `${'x'.repeat(64)}.test`, 'ENOTFOUND'],
    ['TXT', 'a..test', 'ENOTFOUND'],
    ['TXT', 'broken.test', 'ESERVFAIL'],
    ['TXT', 'refused.test', 'EREFUSED'],
    ['TXT', 'silent.test', 'ETIMEOUT'],
    ['TXT', 'cut.test', 'EBADRESP'],
  ])('answers %s %s', async (type, name, answer) => {
    expect(await ask(type, name)).toEqual(answer)
  })

  test('asks the second server where the first is silent, and first from then on', async () => {
    first.zone = () => NO_RESPONSE
    expect(await ask('A', 'host.test')).toEqual(['192.0.2.7'])
    expect(await ask('AAAA', 'host.test')).toEqual(['2001:db8::7'])
    expect(first.seen).toHaveLength(1)
    expect(second.seen).toHaveLength(2)
  })

  test('asks the second server where the first fails', async () => {
    first.zone = () => ({ rcode: 'SERVFAIL' })
    expect(await ask('A', 'host.test')).toEqual(['192.0.2.7'])
    second.zone = () => NO_RESPONSE
    expect(await ask('AAAA', 'host.test')).toBe('ESERVFAIL')
  })

  test('finds no server where none listens', async () => {
    const nobody = await DnsServer.start(() => undefined)
    const { port } = nobody
    await nobody[Symbol.asyncDispose]()
    await using alone = new Script(runtime, FIXTURE, [String(port)])
    alone.tell(JSON.stringify({ name: 'host.test', type: 'A', times: 1 }))
    expect(['ECONNREFUSED', 'ETIMEOUT']).toContain((await alone.next())[0])
  })

  test('does without EDNS where the server does not know it', async () => {
    first.zone = (name, type, { edns }) =>
      edns ? { rcode: 'FORMERR' } : RECORDS[`${type} ${name}`]
    expect((await ask('TXT', 'key4096.test'))[0].join('')).toBe(key(4096))
    expect(first.seen.map(({ transport, edns }) => [transport, edns])).toEqual([
      ['udp', true],
      ['udp', false],
      ['tcp', false],
    ])
  })

  test('takes no response to another query', async () => {
    const forged = (response: Buffer) => {
      const [otherId, otherName] = [Buffer.from(response), Buffer.from(response)]
      otherId.writeUInt16BE((response.readUInt16BE(0) + 1) % 0x1_0000, 0)
      otherName.write('G', 13, 'latin1')
      return [otherId, otherName, response]
    }
    first.zone = (name, type) => ({ ...RECORDS[`${type} ${name}`], sent: forged })
    expect(await ask('A', 'host.test')).toEqual(['192.0.2.7'])
    expect(first.seen).toHaveLength(1)
  })

  test('asks again in small letters where the server does not keep their case', async () => {
    first.zone = (name, type) => ({
      ...RECORDS[`${type} ${name}`],
      sent: (response) => {
        const length = response.readUInt8(12)
        const label = response.toString('latin1', 13, 13 + length)
        response.write(label.toLowerCase(), 13, 'latin1')
        return [response]
      },
    })
    const name = `${'long-name-with-letters'.repeat(2)}.test`
    expect(await ask('A', name)).toBe('ENODATA')
    expect(await ask('AAAA', name)).toBe('ENODATA')
    expect(first.seen).toHaveLength(3)
    expect(first.seen.slice(1).map((each) => each.name)).toEqual([name, name])
    expect(first.seen[0]?.name).not.toBe(name)
  })

  test('asks once for equal questions', async () => {
    const answers = await ask('TXT', 'key2048.test', 20)
    expect(new Set(answers.map((each: unknown) => JSON.stringify(each))).size).toBe(1)
    await ask('TXT', 'KEY2048.test')
    await ask('TXT', 'nowhere.test', 5)
    expect(first.seen).toHaveLength(2)
  })

  test('keeps nothing that has no TTL', async () => {
    first.zone = () => ({ answers: [txt('brief.test', 'x', 0)] })
    for (let times = 0; times < 2; times += 1) await ask('TXT', 'brief.test')
    first.zone = () => ({ rcode: 'NXDOMAIN', authorities: [] })
    for (let times = 0; times < 2; times += 1) await ask('TXT', 'absent.test')
    expect(first.seen).toHaveLength(4)
  })

  test('asks from another port with another id each time', async () => {
    first.zone = () => ({ answers: [txt('brief.test', 'x', 0)] })
    for (let times = 0; times < 8; times += 1) await ask('TXT', 'brief.test')
    expect(new Set(first.seen.map(({ port }) => port)).size).toBeGreaterThan(4)
    expect(new Set(first.seen.map(({ id }) => id)).size).toBeGreaterThan(6)
  })
})
