import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { partCostMs, StreamPacer } from './stream-pacer.ts'

const PART_MS = 0.5
let pacer: StreamPacer
let passed: string[]

beforeEach(() => {
  vi.useFakeTimers({ now: 1000 })
  pacer = new StreamPacer()
  passed = []
})

afterEach(() => {
  pacer.stop()
  vi.useRealTimers()
})

const send = (site: string, count: number): void => {
  for (let at = 1; at <= count; at += 1) {
    pacer.pace(site, { costMs: PART_MS, pass: () => passed.push(`${site}${at}`) })
  }
}

/** An ordinary call each 5 ms. */
async function callsFor(ms: number): Promise<void> {
  for (let atMs = 0; atMs < ms; atMs += 5) {
    pacer.otherCallBegan(performance.now())
    await vi.advanceTimersByTimeAsync(5)
  }
}

test('parts that are alone pass at once, however many', () => {
  send('a', 1000)
  expect(passed).toHaveLength(1000)
})

test('while other calls come, parts take 30 % of the time', async () => {
  pacer.otherCallBegan(performance.now())
  send('a', 1000)
  expect(passed).toHaveLength(4)
  await callsFor(200)
  expect(passed.length * PART_MS).toBeGreaterThan(55)
  expect(passed.length * PART_MS).toBeLessThan(65)
})

test('what was passed alone is not held against the stream when other calls come', async () => {
  send('a', 1000)
  pacer.otherCallBegan(performance.now())
  send('b', 1)
  expect(passed.at(-1)).toBe('b1')
})

test('the rest passes when the other calls have stopped', async () => {
  pacer.otherCallBegan(performance.now())
  send('a', 1000)
  await vi.advanceTimersByTimeAsync(60)
  expect(passed).toHaveLength(1000)
})

test('sites take turns, each with its parts in their order', async () => {
  pacer.otherCallBegan(performance.now())
  send('a', 100)
  send('b', 3)
  await callsFor(40)
  expect(passed.slice(4, 10)).toEqual(['a5', 'b1', 'a6', 'b2', 'a7', 'b3'])
})

test('nothing passes after the end', async () => {
  pacer.otherCallBegan(performance.now())
  send('a', 10)
  pacer.stop()
  await vi.advanceTimersByTimeAsync(1000)
  expect(passed).toHaveLength(4)
})

test('a longer part costs more', () => {
  expect(partCostMs(64 * 1024)).toBeCloseTo(0.35)
  expect(partCostMs(0)).toBeCloseTo(0.05)
})
