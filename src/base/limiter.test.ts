import { describe, expect, test, vi } from 'vitest'

import { Limiter } from './limiter.ts'

class Refused extends Error {}

type Options = Omit<ConstructorParameters<typeof Limiter>[0], 'refuse'>
type Request = Parameters<Limiter['acquire']>[0]

/** A limiter whose work ends when the test says so. */
function limited(options: Options) {
  const limiter = new Limiter({
    ...options,
    refuse: (refusal) => new Refused(JSON.stringify(refusal)),
  })
  const log: string[] = []
  const start = (name: string, request?: Request) => {
    const gate = Promise.withResolvers<void>()
    const done = limiter.run(async () => {
      log.push(name)
      await gate.promise
      return name
    }, request)
    done.catch(() => {})
    return {
      done,
      async end() {
        gate.resolve()
        await done
        // The holder of the permit begins in a microtask of its own.
        await Promise.resolve()
      },
    }
  }
  return { limiter, log, start }
}

const refusal = (fields: object) => new Refused(JSON.stringify(fields))

describe('a limiter', () => {
  test('begins synchronously while permits are free, then in the order of the requests', async () => {
    const { log, start } = limited({ permits: 2 })
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => start(name))
    expect(log).toEqual(['a', 'b'])
    await b?.end()
    expect(log).toEqual(['a', 'b', 'c'])
    await a?.end()
    await c?.end()
    await d?.end()
    expect(log).toEqual(['a', 'b', 'c', 'd'])
    expect(await d?.done).toBe('d')
  })

  test('hands its permit on when work fails', async () => {
    const { limiter } = limited({ permits: 1 })
    const failed = limiter.run(() => Promise.reject(new Error('no')))
    const next = limiter.run(async () => 'next')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('next')
  })

  test('does not give away the permit that is on its way to a waiting request', async () => {
    const { limiter } = limited({ permits: 1 })
    await limiter.acquire()
    const waiting = limiter.acquire()
    limiter.release()
    expect(limiter.tryAcquire()).toBe(false)
    await waiting
  })

  test('limits each key alone', async () => {
    const { log, start } = limited({ permitsPerKey: 1 })
    const a = start('a1', { key: 'a' })
    start('a2', { key: 'a' })
    start('b1', { key: 'b' })
    expect(log).toEqual(['a1', 'b1'])
    await a.end()
    expect(log).toEqual(['a1', 'b1', 'a2'])
  })

  test('serves keys in turn when all permits are taken', async () => {
    const { log, start } = limited({ permits: 1 })
    const first = start('a1', { key: 'a' })
    const [a2, , b1] = ['a2', 'a3', 'b1'].map((name) => start(name, { key: name.charAt(0) }))
    await first.end()
    await a2?.end()
    await b1?.end()
    expect(log).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('keeps reserved permits for keys that hold none', () => {
    const { limiter } = limited({ permits: 3, reservedPermits: 1 })
    expect(['a', 'a', 'a', 'b'].map((key) => limiter.tryAcquire({ key }))).toEqual([
      true,
      true,
      false,
      true,
    ])
  })

  test('takes the limits of the request before its own', () => {
    const { limiter } = limited({ permitsPerKey: 1 })
    const request = { key: 'a', permitsPerKey: 2 }
    expect([1, 2, 3].map(() => limiter.tryAcquire(request))).toEqual([true, true, false])
  })

  test('counts weights, and takes them back in parts', async () => {
    const { limiter } = limited({ permits: 10 })
    const heavy = { weight: 8 }
    limiter.tryAcquire(heavy)
    const waiting = limiter.acquire({ weight: 5 })
    let admitted = false
    void waiting.then(() => (admitted = true))
    limiter.release(heavy, 2)
    await Promise.resolve()
    expect(admitted).toBe(false)
    limiter.release(heavy, 1)
    await waiting
  })

  test('lets a request that is heavier than the limit run alone', async () => {
    const { log, start } = limited({ permits: 2 })
    const light = start('light')
    const heavy = start('heavy', { weight: 3 })
    start('next')
    expect(log).toEqual(['light'])
    await light.end()
    expect(log).toEqual(['light', 'heavy'])
    await heavy.end()
    expect(log).toEqual(['light', 'heavy', 'next'])
  })

  test('refuses when too many of a key wait', async () => {
    const { start } = limited({ permitsPerKey: 1, maxQueued: 1 })
    const [first, second, third] = [1, 2, 3].map((n) => start(`a${n}`, { key: 'a' }))
    await expect(third?.done).rejects.toEqual(refusal({ reason: 'queue-full', maxQueued: 1 }))
    await expect(start('b', { key: 'b', maxQueued: 0 }).end()).resolves.toBeUndefined()
    await first?.end()
    await second?.end()
  })

  test('refuses when too many of all keys wait, but not the first of a key', async () => {
    const { log, start } = limited({ permits: 1, maxQueuedInAll: 2, reservedQueue: 1 })
    const running = start('running', { key: 'a' })
    const [first, second, third] = [1, 2, 3].map((n) => start(`a${n}`, { key: 'a' }))
    const full = { reason: 'queue-full', maxQueued: 2 }
    await expect(third?.done).rejects.toEqual(refusal(full))
    const other = start('b1', { key: 'b' })
    await expect(start('b2', { key: 'b' }).done).rejects.toBeInstanceOf(Refused)
    await expect(start('c1', { key: 'c' }).done).rejects.toBeInstanceOf(Refused)
    for (const each of [running, first, other, second]) await each?.end()
    expect(log).toEqual(['running', 'a1', 'b1', 'a2'])
    expect(await start('a4', { key: 'a' }).end()).toBeUndefined()
  })

  test('refuses when the wait takes too long, with the error of the request', async () => {
    vi.useFakeTimers()
    try {
      const { start } = limited({ permits: 1, maxWaitMs: 100 })
      start('a')
      const late = start('late', { refuse: ({ reason }) => new Refused(`my own ${reason}`) })
      await vi.advanceTimersByTimeAsync(100)
      await expect(late.done).rejects.toThrow('my own timeout')
      const later = start('later')
      await vi.advanceTimersByTimeAsync(100)
      await expect(later.done).rejects.toEqual(refusal({ reason: 'timeout', maxWaitMs: 100 }))
    } finally {
      vi.useRealTimers()
    }
  })

  test('refuses who is aborted while waiting, and lets the next one in', async () => {
    const { log, start } = limited({ permits: 2 })
    const { signal, ...controller } = abortable()
    start('a')
    const heavy = start('heavy', { weight: 2, signal })
    start('light')
    expect(log).toEqual(['a'])
    controller.abort()
    await expect(heavy.done).rejects.toEqual(refusal({ reason: 'aborted' }))
    expect(log).toEqual(['a', 'light'])
  })

  test('refuses who is aborted before, and leaves alone who is aborted later', async () => {
    const { log, start } = limited({ permits: 1 })
    const { signal, abort } = abortable()
    const running = start('running', { signal })
    abort()
    await running.end()
    await expect(start('late', { signal }).done).rejects.toEqual(refusal({ reason: 'aborted' }))
    expect(log).toEqual(['running'])
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
