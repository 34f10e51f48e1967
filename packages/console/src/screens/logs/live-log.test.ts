import { expect, test, vi } from 'vitest'

import { CroftError } from '../../../../sdk/error.ts'
import { LiveLog, type LiveLogDeps, MAX_LINES } from './live-log.ts'
import type { LogLine } from './log-filter.ts'
import { type LogStreamRequest, logEvents } from './log-stream.ts'

const line = (id: number): LogLine => ({
  logId: String(id),
  message: `line ${id}`,
  at: new Date(id).toISOString(),
  level: 'info',
  kind: 'console',
  operation: null,
  requestId: null,
})
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index))
const ids = (log: LiveLog) => log.lines.value.map(({ logId }) => Number(logId))

/** A log whose streams are driven by the test: each call of `stream` waits in `streams`. */
function drivenLog(deps: Partial<LiveLogDeps> = {}) {
  const streams: (LogStreamRequest & { readonly end: (error?: unknown) => void })[] = []
  const waits: number[] = []
  const log = new LiveLog(
    {},
    {
      list: async () => ({ items: range(1, 3).toReversed(), nextToken: null }),
      stream: (request) =>
        new Promise((resolve, reject) => {
          request.signal.addEventListener('abort', () => resolve())
          streams.push({
            ...request,
            end: (error) => (error === undefined ? resolve() : reject(error)),
          })
        }),
      wait: async (ms) => void waits.push(ms),
      ...deps,
    },
  )
  const stream = async (at: number) => vi.waitUntil(() => streams[at])
  return { log, stream, waits, running: log.run() }
}

test('follows after the newest line it has read', async () => {
  const { log, stream, running } = drivenLog()
  const first = await stream(0)
  expect(first.after).toBe('3')
  first.onOpen()
  first.onLines(range(4, 5))
  expect(log.state.value).toBe('live')
  expect(ids(log)).toEqual([5, 4, 3, 2, 1])
  log.stop()
  await running
})

test('begins before the first line where there is none yet', async () => {
  const { log, stream, running } = drivenLog({
    list: async () => ({ items: [], nextToken: null }),
  })
  expect((await stream(0)).after).toBe('0')
  log.stop()
  await running
})

test('takes up a stream that breaks off after the last line, and waits longer each time', async () => {
  const { log, stream, waits, running } = drivenLog()
  ;(await stream(0)).onLines([line(4)])
  ;(await stream(0)).end(new Error('The connection is lost'))
  expect((await stream(1)).after).toBe('4')
  ;(await stream(1)).end()
  await stream(2)
  expect(waits).toEqual([1000, 2000])
  expect(log.state.value).toBe('reconnecting')
  ;(await stream(2)).onOpen()
  ;(await stream(2)).end()
  await stream(3)
  expect(waits).toEqual([1000, 2000, 1000])
  log.stop()
  await running
})

test('ends where the service refuses the stream', async () => {
  const { log, stream, running } = drivenLog()
  const refusal = new CroftError('Not for you', { code: 'Forbidden', status: 403 })
  ;(await stream(0)).end(refusal)
  await running
  expect(log.state.value).toBe('ended')
  expect(log.problem.value).toMatchObject({ code: 'Forbidden' })
})

test('follows nothing where the filter ends in the past', async () => {
  const log = new LiveLog(
    { until: '2026-01-01T00:00:00.000Z' },
    {
      list: async () => ({ items: [line(1)], nextToken: null }),
      stream: () => Promise.reject(new Error('is not called')),
      wait: () => Promise.reject(new Error('is not called')),
    },
  )
  await log.run()
  expect(log.state.value).toBe('off')
  expect(ids(log)).toEqual([1])
})

test('keeps what arrives during a pause, and shows it afterwards', async () => {
  const { log, stream, running } = drivenLog()
  const first = await stream(0)
  log.pause()
  first.onLines([line(4)])
  first.onLines([line(5)])
  expect(ids(log)).toEqual([3, 2, 1])
  expect(log.held.value).toHaveLength(2)
  log.resume()
  expect(ids(log)).toEqual([5, 4, 3, 2, 1])
  expect(log.held.value).toEqual([])
  log.stop()
  await running
})

test('keeps the newest lines alone, and reads no older ones from then on', async () => {
  const { log, stream, running } = drivenLog({
    list: async (_query, token) =>
      token === undefined
        ? { items: [line(2)], nextToken: 'older' }
        : { items: [line(1)], nextToken: null },
  })
  const first = await stream(0)
  await vi.waitUntil(() => log.lines.value.length === 2)
  first.onLines(range(3, MAX_LINES + 5))
  expect(log.lines.value).toHaveLength(MAX_LINES)
  expect(ids(log).at(0)).toBe(MAX_LINES + 5)
  expect(ids(log).at(-1)).toBe(6)
  expect(log.hasDropped.value).toBe(true)
  expect(log.hasOlder).toBe(false)
  log.stop()
  await running
})

test('reads an event stream in pieces of any length', () => {
  const written = [1, 2, 3]
    .map((id) => `id: ${id}\nevent: log\ndata: ${JSON.stringify(line(id))}\n\n`)
    .join(': still here\n\n')
  for (const size of [1, 7, written.length]) {
    const read: LogLine[] = []
    const feed = logEvents((lines) => read.push(...lines))
    for (let at = 0; at < written.length; at += size) feed(written.slice(at, at + size))
    expect(read).toEqual([line(1), line(2), line(3)])
  }
})
