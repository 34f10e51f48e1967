import { describe, expect, test } from 'vitest'

import { KeyedMutex } from './keyed-mutex.ts'

function recorder(mutex: KeyedMutex) {
  const log: string[] = []
  const start = (key: string, name: string) => {
    const gate = Promise.withResolvers<void>()
    const done = mutex.run(key, async () => {
      log.push(`${name} begins`)
      await gate.promise
      log.push(`${name} ends`)
      return name
    })
    return { done, finish: gate.resolve, fail: () => gate.reject(new Error(name)) }
  }
  return { log, start }
}

describe('a keyed mutex', () => {
  test('begins at once when the key is free', () => {
    const { log, start } = recorder(new KeyedMutex())
    start('k', 'a').finish()
    expect(log).toEqual(['a begins'])
  })

  test('runs work on one key in order, one after the other', async () => {
    const { log, start } = recorder(new KeyedMutex())
    const works = ['a', 'b', 'c'].map((name) => start('k', name))
    for (const { finish } of works.toReversed()) finish()
    expect(await Promise.all(works.map(({ done }) => done))).toEqual(['a', 'b', 'c'])
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('runs work on different keys side by side', async () => {
    const { log, start } = recorder(new KeyedMutex())
    const [one, other] = [start('k', 'a'), start('l', 'b')]
    expect(log).toEqual(['a begins', 'b begins'])
    one.finish()
    other.finish()
    await Promise.all([one.done, other.done])
  })

  test('goes on when work fails, and is free again afterwards', async () => {
    const { log, start } = recorder(new KeyedMutex())
    const [first, second] = [start('k', 'a'), start('k', 'b')]
    first.fail()
    second.finish()
    await expect(first.done).rejects.toThrow('a')
    expect(await second.done).toBe('b')
    start('k', 'c').finish()
    expect(log).toEqual(['a begins', 'b begins', 'b ends', 'c begins'])
  })
})
