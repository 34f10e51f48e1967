import { describe, expect, test } from 'vitest'

import { HostCallLimiter } from './host-call-limiter.ts'

const MI = 1024 * 1024

/** Calls of `fetch` that were begun, by the names that they were given. */
function line() {
  const gate = new HostCallLimiter()
  const begun: string[] = []
  const enter = (call: string, mi: number, siteId = 'one') => {
    const asked = { siteId, name: 'fetch', argument: 'a'.repeat(mi * MI) } as const
    return gate.acquire(asked, () => void begun.push(call))
  }
  return { begun, enter }
}

describe('the arguments of a site’s host calls', () => {
  test('are 64 Mi characters at work, and as many in wait', () => {
    const { begun, enter } = line()
    const first = enter('first', 40)
    enter('second', 30)
    enter('third', 1)
    enter('neighbour', 64, 'two')
    expect(begun).toEqual(['first', 'neighbour'])
    expect(enter('too much', 34)).toBeUndefined()
    first?.release()
    expect(begun).toEqual(['first', 'neighbour', 'second', 'third'])
  })

  test('do not keep one from being at work alone, and are gone with the call', () => {
    const { begun, enter } = line()
    const first = enter('first', 80)
    const given = enter('given up', 1)
    given?.release()
    first?.release()
    first?.release()
    enter('second', 40)
    enter('third', 24)
    enter('fourth', 1)
    expect(begun).toEqual(['first', 'second', 'third'])
  })
})
