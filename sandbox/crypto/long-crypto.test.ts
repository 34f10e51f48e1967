import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import type { LongResult } from './crypto-thread.ts'
import { LongCrypto } from './long-crypto.ts'

describe('long operations', () => {
  let begun: string[]
  let ends: Map<string, (result: LongResult) => void>
  let answers: [hostCall: number, text: string, cpuMs: number, owedMs: number][]
  let long: LongCrypto

  beforeEach(() => {
    begun = []
    ends = new Map()
    answers = []
    long = new LongCrypto({
      answered: (hostCall, { text, cpuMs }, owedMs) =>
        answers.push([hostCall, text, cpuMs, owedMs]),
      run: (request) => {
        begun.push(request)
        return new Promise((resolve) => ends.set(request, resolve))
      },
    })
  })
  afterEach(() => long.close())

  const ask = (hostCall: number, siteId: string): void =>
    long.ask({ hostCall, siteId, request: `${siteId}${hostCall}` })
  async function end(request: string, cpuMs = 1): Promise<void> {
    const before = answers.length + begun.length
    ends.get(request)?.({ text: request, cpuMs })
    await vi.waitFor(() => expect(answers.length + begun.length).toBeGreaterThan(before))
  }

  test('run one for each site and two together, and sites take turns', async () => {
    for (const [hostCall, siteId] of ['a', 'a', 'a', 'b', 'c'].entries()) ask(hostCall, siteId)
    expect(begun).toEqual(['a0', 'b3'])
    await end('a0')
    expect(begun.at(-1)).toBe('c4')
    await end('b3')
    await vi.waitFor(() => expect(begun.at(-1)).toBe('a1'))
    expect(answers).toEqual([
      [0, 'a0', 1, 0],
      [3, 'b3', 1, 0],
    ])
  })

  test('that were cancelled are not begun; what ran is charged to the next of the site', async () => {
    for (const [hostCall, siteId] of ['a', 'a', 'a'].entries()) ask(hostCall, siteId)
    long.cancel(1)
    long.cancel(0)
    await end('a0', 500)
    expect(begun).toEqual(['a0', 'a2'])
    await end('a2', 7)
    expect(answers).toEqual([[2, 'a2', 7, 500]])
  })

  test('beyond those that may wait are refused, and those of other sites are not', async () => {
    for (let hostCall = 0; hostCall < 66; hostCall += 1) ask(hostCall, 'a')
    ask(100, 'b')
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    expect(answers).toEqual([[65, expect.stringMatching(/^!OperationError:More than 64 /), 0, 0]])
    expect(begun).toEqual(['a0', 'b100'])
  })

  test('whose thread fails are refused, and the next is begun', async () => {
    const failing = new LongCrypto({
      answered: (hostCall, { text }) => answers.push([hostCall, text, 0, 0]),
      run: async () => {
        throw new Error('the thread is gone')
      },
    })
    for (const hostCall of [1, 2]) failing.ask({ hostCall, siteId: 'a', request: '' })
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    for (const [, text] of answers) expect(text).toMatch(/^!OperationError:/)
  })
})
