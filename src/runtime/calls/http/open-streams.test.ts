import { describe, expect, test } from 'vitest'

import { OpenStreams } from './open-streams.ts'

const of = (siteId: string, address: string, openStreams = 100) => ({
  siteId,
  address,
  openStreams,
})

describe('open streams', () => {
  const streams = () => new OpenStreams({ perReplica: 4, perAddress: 2 })

  test('are counted until they end, once each', () => {
    const open = streams()
    const close = open.open(of('one', '192.0.2.1'))
    open.open(of('one', '192.0.2.2'))
    expect([open.size, open.sizeOf('one'), open.sizeOf('two')]).toEqual([2, 2, 0])
    close()
    close()
    expect([open.size, open.sizeOf('one')]).toEqual([1, 1])
  })

  test.each([
    ['address', 'TooManyRequests', 'openStreamsPerAddress', 2],
    ['site', 'OperationOverloaded', 'openStreams', 3],
    ['replica', 'OperationOverloaded', 'openStreamsPerReplica', 4],
  ] as const)('of one %s are bounded', (refused, code, name, value) => {
    const open = streams()
    const sources = {
      address: Array.from({ length: 3 }, (_, at) => of(`s${at}`, '2001:db8::1')),
      site: Array.from({ length: 4 }, (_, at) => of('one', `192.0.2.${at}`, 3)),
      replica: Array.from({ length: 5 }, (_, at) => of(`s${at}`, `192.0.2.${at}`)),
    }[refused]
    const last = sources.pop()
    for (const source of sources) open.open(source)
    expect(() => last && open.open(last)).toThrow(
      expect.objectContaining({
        code,
        retryAfterSeconds: 5,
        fields: { retryable: true, limit: { name, value, used: value } },
      }),
    )
    expect(Object.fromEntries(open.refused)).toMatchObject({ [refused]: 1 })
  })

  test('of the addresses of one IPv6 network are one address’s', () => {
    const open = streams()
    open.open(of('one', '2001:db8::1'))
    open.open(of('one', '2001:db8::2'))
    expect(() => open.open(of('one', '2001:db8::3'))).toThrow('This address has 2 streams open')
    expect(() => open.open(of('one', '2001:db8:0:1::3'))).not.toThrow()
  })
})
