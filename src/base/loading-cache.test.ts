import { describe, expect, test } from 'vitest'

import { LoadingCache } from './loading-cache.ts'

type Value = string | undefined

/** A cache whose loads end when the test says so. */
function cacheOf(
  options: Partial<ConstructorParameters<typeof LoadingCache<string, Value>>[0]> = {},
) {
  const cache = new LoadingCache<string, Value>({ entries: { max: 10 }, ...options })
  const loads: PromiseWithResolvers<Value>[] = []
  const load = () => {
    const gate = Promise.withResolvers<Value>()
    loads.push(gate)
    return gate.promise
  }
  return { cache, loads, get: (key = 'k') => cache.get(key, load), load }
}

describe('a loading cache', () => {
  test('loads a key once for all concurrent callers, and answers synchronously from then on', async () => {
    const { loads, get } = cacheOf()
    const both = [get(), get()].map((value) => Promise.resolve(value))
    expect(loads).toHaveLength(1)
    loads[0]?.resolve('value')
    expect(await Promise.all(both)).toEqual(['value', 'value'])
    expect(get()).toBe('value')
  })

  test('loads different keys side by side', async () => {
    const { loads, get } = cacheOf()
    const [one, other] = [get('a'), get('b')]
    loads[1]?.resolve('b')
    expect(await other).toBe('b')
    loads[0]?.resolve('a')
    expect(await one).toBe('a')
  })

  test('keeps no failure', async () => {
    const { loads, get } = cacheOf()
    const first = get()
    loads[0]?.reject(new Error('no'))
    await expect(first).rejects.toThrow('no')
    const second = get()
    loads[1]?.resolve('value')
    expect(await second).toBe('value')
  })

  test('forgets the keys that were used longest ago', async () => {
    const { cache } = cacheOf({ entries: { max: 2 } })
    cache.set('a', '1')
    cache.set('b', '2')
    cache.getIfPresent('a')
    cache.set('c', '3')
    expect(['a', 'b', 'c'].map((key) => cache.getIfPresent(key))).toEqual(['1', undefined, '3'])
  })

  test.each([
    ['invalidate', (cache: LoadingCache<string, Value>) => cache.invalidate('k')],
    ['invalidateAll', (cache: LoadingCache<string, Value>) => cache.invalidateAll()],
  ])('%s drops what is kept', async (_name, invalidate) => {
    const { cache, loads, get } = cacheOf()
    cache.set('k', 'old')
    invalidate(cache)
    const later = get()
    loads[0]?.resolve('new')
    expect(await later).toBe('new')
  })

  test.each([
    ['invalidated', (cache: LoadingCache<string, Value>) => cache.invalidate('k')],
    ['invalidated with all others', (cache: LoadingCache<string, Value>) => cache.invalidateAll()],
  ])(
    'keeps nothing of a load that was %s, and loads again for later callers',
    async (_name, invalidate) => {
      const { cache, loads, get } = cacheOf()
      const before = get()
      invalidate(cache)
      const after = get()
      expect(loads).toHaveLength(2)
      loads[0]?.resolve('old')
      expect(await before).toBe('old')
      expect(cache.getIfPresent('k')).toBeUndefined()
      const joined = get()
      expect(loads).toHaveLength(2)
      loads[1]?.resolve('new')
      expect(await Promise.all([after, joined])).toEqual(['new', 'new'])
      expect(get()).toBe('new')
    },
  )

  test('keeps what was set while a load ran', async () => {
    const { cache, loads, get } = cacheOf()
    const loading = get()
    cache.set('k', 'set')
    loads[0]?.resolve('loaded')
    expect(await loading).toBe('loaded')
    expect(get()).toBe('set')
  })

  test('serves the kept value while it is refreshed', async () => {
    const { cache, loads, get, load } = cacheOf()
    cache.set('k', 'old')
    const both = [cache.refresh('k', load), cache.refresh('k', load)]
    expect(get()).toBe('old')
    loads[0]?.resolve('new')
    expect(await Promise.all(both)).toEqual(['new', 'new'])
    expect(get()).toBe('new')
    expect(loads).toHaveLength(1)
  })

  test('keeps no undefined, and reports it unless the load was invalidated', async () => {
    const missing: string[] = []
    const { cache, loads, get } = cacheOf({ onMissing: (key) => missing.push(key) })
    const [a, b] = [get('a'), get('b')]
    cache.invalidate('a')
    for (const { resolve } of loads) resolve(undefined)
    expect(await Promise.all([a, b])).toEqual([undefined, undefined])
    expect(missing).toEqual(['b'])
    void get('b')
    expect(loads).toHaveLength(3)
  })

  test('gives out nothing that is in doubt before it is loaded again', async () => {
    const { cache, loads, get } = cacheOf()
    cache.set('k', 'old')
    const before = get('other')
    cache.doubtAll()
    expect([cache.getIfPresent('k'), cache.glance('k'), cache.doubted('k')]).toEqual([
      undefined,
      undefined,
      'old',
    ])
    const loading = get()
    loads[1]?.resolve('new')
    expect(await loading).toBe('new')
    expect([get(), cache.doubted('k')]).toEqual(['new', undefined])
    loads[0]?.resolve('read before the doubt')
    await before
    expect(cache.getIfPresent('other')).toBeUndefined()
  })

  test('drops what is in doubt and turns out not to be there', async () => {
    const { cache, loads, get } = cacheOf()
    cache.set('k', 'old')
    cache.doubtAll()
    const loading = get()
    loads[0]?.resolve(undefined)
    expect(await loading).toBeUndefined()
    expect([cache.getIfPresent('k'), cache.doubted('k')]).toEqual([undefined, undefined])
  })

  test('keeps what is asked for often, though not each glance counts', () => {
    const { cache } = cacheOf({ entries: { max: 2 } })
    cache.set('often', 'a')
    cache.set('once', 'b')
    expect(cache.glance('missing')).toBeUndefined()
    for (let at = 0; at < 500; at += 1) expect(cache.glance('often')).toBe('a')
    cache.set('new', 'c')
    expect([cache.glance('often'), cache.glance('once')]).toEqual(['a', undefined])
  })
})
