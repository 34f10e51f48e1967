import { describe, expect, test } from 'vitest'

import { AppError } from './app-error.ts'
import { StatementBatcher } from './statement-batcher.ts'

/** Groups whose statements are answered when the test says so; the answer to `a` is `A`. */
function heldGroups(most = 100, underWay = 2) {
  const sent: { lane: string; entries: readonly string[]; answer: () => void }[] = []
  const groups = new StatementBatcher<string, string>({
    most,
    underWay,
    async send(lane, entries) {
      const { promise, resolve } = Promise.withResolvers<void>()
      sent.push({ lane, entries, answer: resolve })
      await promise
      if (entries.includes('bad')) throw new Error('bad')
      if (entries.includes('away')) throw new AppError('ServiceUnavailable', 'away')
      if (entries.includes('busy')) throw Object.assign(new Error('busy'), { code: '57014' })
      return entries.map((entry) => entry.toUpperCase())
    },
  })
  return { groups, sent, join: (entry: string, lane = 'one') => groups.add(lane, entry) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const entriesOf = (sent: readonly { entries: readonly string[] }[]) =>
  sent.map(({ entries }) => entries.join(''))

describe('groups', () => {
  test('send what comes in one turn together, in its order', async () => {
    const { sent, join } = heldGroups()
    const answers = Promise.all([join('a'), join('b'), join('c')])
    await turn()
    expect(entriesOf(sent)).toEqual(['abc'])
    sent[0]?.answer()
    expect(await answers).toEqual(['A', 'B', 'C'])
  })

  test('run as many at once as the option allows', async () => {
    const { sent, join } = heldGroups(100, 1)
    const answers = [join('a')]
    await turn()
    answers.push(join('b'), join('c'))
    await turn()
    expect(entriesOf(sent)).toEqual(['a'])
    sent[0]?.answer()
    await turn()
    await turn()
    expect(entriesOf(sent)).toEqual(['a', 'bc'])
    sent[1]?.answer()
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C'])
  })

  test('send the first at once, and run two statements at a time', async () => {
    const { sent, join } = heldGroups()
    const answers = [join('a')]
    await turn()
    answers.push(join('b'))
    await turn()
    answers.push(join('c'), join('d'))
    await turn()
    expect(entriesOf(sent)).toEqual(['a', 'b'])
    sent[1]?.answer()
    expect(await answers[1]).toBe('B')
    await turn()
    await turn()
    expect(entriesOf(sent)).toEqual(['a', 'b', 'cd'])
    for (const { answer } of sent) answer()
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D'])
  })

  test('send no more at once than they may', async () => {
    const { sent, join } = heldGroups(2)
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((entry) => join(entry)))
    await turn()
    expect(entriesOf(sent)).toEqual(['ab', 'cd'])
    for (let at = 0; at < 3; at++) {
      sent[at]?.answer()
      await turn()
      await turn()
    }
    expect(entriesOf(sent)).toEqual(['ab', 'cd', 'e'])
    expect(await answers).toEqual(['A', 'B', 'C', 'D', 'E'])
  })

  test('keep lanes apart', async () => {
    const { sent, join } = heldGroups()
    const answers = Promise.all([join('a', 'one'), join('b', 'two')])
    await turn()
    expect(sent.map(({ lane }) => lane)).toEqual(['one', 'two'])
    for (const { answer } of sent) answer()
    expect(await answers).toEqual(['A', 'B'])
  })

  test('give an error to the entry that caused it', async () => {
    const { sent, join } = heldGroups()
    const answers = Promise.allSettled([join('a'), join('bad'), join('c')])
    for (let round = 0; round < 3; round++) {
      await turn()
      for (const { answer } of sent) answer()
    }
    expect(await answers).toEqual([
      { status: 'fulfilled', value: 'A' },
      { status: 'rejected', reason: new Error('bad') },
      { status: 'fulfilled', value: 'C' },
    ])
  })

  test.each([
    ['away', 'ServiceUnavailable'],
    ['busy', '57014'],
  ])('ask a database that is %s no more often for it', async (how, code) => {
    const { sent, join } = heldGroups()
    const answers = Promise.allSettled([join('a'), join(how), join('c')])
    await turn()
    sent[0]?.answer()
    const failed = { status: 'rejected', reason: { code } }
    expect(await answers).toMatchObject([failed, failed, failed])
    expect(entriesOf(sent)).toEqual([`a${how}c`])
  })
})
