import { describe, expect, test } from 'vitest'

import { type Load, ResourceCache } from './cache.ts'

/** A load that resolves when the test calls one of `waiting`. */
function controlled() {
  const waiting: ((value: unknown) => void)[] = []
  const load: Load = () => new Promise((resolve) => void waiting.push(resolve))
  return { load, waiting }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the cache', () => {
  test('shows the old value while it reads a new one', async () => {
    let now = 0
    const cache = new ResourceCache(() => now)
    const { load, waiting } = controlled()
    const entry = cache.entry('k', '/p', load)
    cache.use(entry)
    expect(entry.state.value).toMatchObject({ value: undefined, isLoading: true })
    waiting[0]?.('one')
    await settled()
    now = 60_000
    cache.use(entry)
    expect(entry.state.value).toMatchObject({ value: 'one', isLoading: true })
    waiting[1]?.('two')
    await settled()
    expect(entry.state.value).toMatchObject({ value: 'two', isLoading: false })
  })

  test('asks once for what is shown twice at a time', () => {
    const cache = new ResourceCache(() => 0)
    const { load, waiting } = controlled()
    cache.use(cache.entry('k', '/p', load))
    cache.use(cache.entry('k', '/p', load))
    expect(waiting).toHaveLength(1)
  })

  test('ignores an answer that a later question has overtaken', async () => {
    const cache = new ResourceCache(() => 0)
    const { load, waiting } = controlled()
    const entry = cache.entry('k', '/p', load)
    cache.use(entry)
    cache.invalidate(['/p'])
    waiting[1]?.('new')
    await settled()
    waiting[0]?.('old')
    await settled()
    expect(entry.state.value.value).toBe('new')
  })

  test('reads again what is on show of a path, and forgets the rest', async () => {
    const cache = new ResourceCache(() => 0)
    const { load, waiting } = controlled()
    const shown = cache.entry('shown', '/p', load)
    const hidden = cache.entry('hidden', '/p', load)
    const other = cache.entry('other', '/q', load)
    cache.use(shown)
    cache.use(other)
    cache.use(hidden)()
    expect(waiting).toHaveLength(3)
    cache.invalidate(['/p'])
    expect(waiting).toHaveLength(4)
    expect(cache.entry('hidden', '/p', load)).not.toBe(hidden)
    expect(cache.entry('other', '/q', load)).toBe(other)
  })

  test('keeps the value where the next load fails, and says why', async () => {
    const cache = new ResourceCache(() => 0)
    const results = [Promise.resolve('one'), Promise.reject(new Error('Broken'))]
    const entry = cache.entry('k', '/p', async () => results.shift())
    await cache.reload(entry)
    await cache.reload(entry)
    expect(entry.state.value).toMatchObject({ value: 'one', problem: { message: 'Broken' } })
  })

  test('shows a change before the service has it', async () => {
    const cache = new ResourceCache(() => 0)
    const entry = cache.entry('k', '/p', async () => [1, 2])
    await cache.reload(entry)
    cache.update(['/p'], (value) => [...(value as number[]), 3])
    expect(entry.state.value.value).toEqual([1, 2, 3])
  })
})
