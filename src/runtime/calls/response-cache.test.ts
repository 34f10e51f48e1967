import { describe, expect, test } from 'vitest'

import type { CallAuthority } from '#platform/sandbox-host/call.ts'

import { cacheKeyOf } from './response-cache.ts'

const site = { siteId: 's1', domain: 's1.test' }
const visitor = (sub: string, groups: string[] = []) => ({
  sub,
  groups,
  authText: JSON.stringify({ sub, username: sub, groups }),
  isThirdParty: false,
})
const keyOf = (body: string, authority: CallAuthority = null) =>
  cacheKeyOf({ site, authority, body }, 'price@7.3').entry

describe('the key of an answer', () => {
  test('is one for texts that mean the same payload', () => {
    expect(keyOf('{"payload":{"a":1,"b":[2]}}')).toBe(keyOf(' {"payload":{"b":[2],"a":1.0}}'))
    expect(keyOf('{"payload":null}')).toBe(keyOf('{}'))
  })

  test.each([
    ['another payload', keyOf('{"payload":1}'), keyOf('{"payload":"1"}')],
    ['another caller', keyOf('{}', visitor('a')), keyOf('{}', visitor('b'))],
    ['a caller and none', keyOf('{}', visitor('a')), keyOf('{}')],
    ['the site itself and an anonymous caller', keyOf('{}', 'system'), keyOf('{}')],
    ['other groups of a caller', keyOf('{}', visitor('a')), keyOf('{}', visitor('a', ['g']))],
    [
      'long payloads',
      keyOf(`{"payload":"${'x'.repeat(2000)}"}`),
      keyOf(`{"payload":"${'x'.repeat(2001)}"}`),
    ],
  ])('differs for %s', (_what, a, b) => {
    expect(a).not.toBe(b)
  })

  test('stays short however long the payload is', () => {
    expect(keyOf(`{"payload":"${'x'.repeat(100_000)}"}`).length).toBeLessThan(100)
  })

  test.each(['', '[1]', 'null', '"text"', '{"payload":', '{"x":0,"payload":1}'])(
    'is refused for %s',
    (body) => {
      expect(() => keyOf(body)).toThrow(/body|beside/)
    },
  )
})
