import { setImmediate } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { ReadLimiter } from './read-limiter.ts'

/** Reads that end when the test says so, in the order in which they began. */
class Reads {
  readonly begun: string[] = []
  readonly #lanes = new ReadLimiter()
  readonly #running: { readonly site: string; end(large: boolean): void }[] = []

  ask(site: string): Promise<boolean> {
    return this.#lanes.run(
      site,
      () =>
        new Promise<boolean>((resolve) => {
          this.begun.push(site)
          this.#running.push({ site, end: resolve })
        }),
      (large) => large,
    )
  }

  running(site?: string): number {
    return this.#running.filter((read) => site === undefined || read.site === site).length
  }

  /** Ends the oldest read of the site. */
  async end(site: string, { large = false } = {}): Promise<void> {
    const at = this.#running.findIndex((read) => read.site === site)
    this.#running.splice(at, 1)[0]?.end(large)
    await setImmediate()
  }
}

async function ask(reads: Reads, site: string, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) void reads.ask(site)
  await setImmediate()
}

describe('reads of several items', () => {
  test('run four at once for one site and eight for all, each site in its turn', async () => {
    const reads = new Reads()
    for (const site of ['a', 'b', 'c']) await ask(reads, site, 6)
    expect(['a', 'b', 'c'].map((site) => reads.running(site))).toEqual([4, 4, 0])
    await reads.end('a')
    await reads.end('a')
    expect(['a', 'b', 'c'].map((site) => reads.running(site))).toEqual([3, 4, 1])
  })

  test('run one at a time for a site whose last one was large, and for two such sites', async () => {
    const reads = new Reads()
    const running = () => ['a', 'b', 'c'].map((site) => reads.running(site))
    for (const site of ['a', 'b', 'c']) {
      await ask(reads, site, 1)
      await ask(reads, site, 2)
      await reads.end(site, { large: true })
    }
    expect(running()).toEqual([2, 2, 2])
    for (const site of ['a', 'b', 'c']) await ask(reads, site, 1)
    for (const site of ['a', 'b', 'c']) await reads.end(site, { large: true })
    expect(running()).toEqual([1, 1, 1])
    for (const site of ['a', 'b', 'c']) await reads.end(site, { large: true })
    expect(running()).toEqual([1, 1, 0])
    await ask(reads, 'small', 5)
    expect(reads.running('small')).toBe(4)
  })

  test('go on after one that failed', async () => {
    const lanes = new ReadLimiter()
    const fail = () =>
      lanes.run(
        'a',
        () => Promise.reject(new Error('no')),
        () => true,
      )
    for (let at = 0; at < 20; at += 1) await expect(fail()).rejects.toThrow('no')
    expect(
      await lanes.run(
        'a',
        () => Promise.resolve(1),
        () => false,
      ),
    ).toBe(1)
  })

  test('are refused when 200 of the site wait', async () => {
    const reads = new Reads()
    await ask(reads, 'a', 204)
    await expect(reads.ask('a')).rejects.toMatchObject({ code: 'TooManyRequests' })
    await ask(reads, 'b', 1)
    expect(reads.running('b')).toBe(1)
  })
})
