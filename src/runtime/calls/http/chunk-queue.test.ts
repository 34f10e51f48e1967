import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { ChunkQueue } from './chunk-queue.ts'
import { HTTP_LIMITS } from './http-limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function opened() {
  const events = {
    left: vi.fn<() => void>(),
    ended: vi.fn<() => void>(),
    silent: vi.fn<() => void>(),
  }
  const queue = new ChunkQueue(events)
  return { queue, events, reader: queue.stream.getReader() }
}

const chunk = (sizeBytes: number) => new Uint8Array(sizeBytes)

describe('the body of a response on its way', () => {
  test('has room until the client leaves too much of it', async () => {
    const { queue, reader } = opened()
    await queue.push(chunk(HTTP_LIMITS.bufferedBytes))
    const waiting = vi.fn<() => void>()
    const second = queue.push(chunk(1)).then(waiting)
    await vi.advanceTimersByTimeAsync(1)
    expect(waiting).not.toHaveBeenCalled()
    expect((await reader.read()).value).toHaveLength(HTTP_LIMITS.bufferedBytes)
    await second
    expect(waiting).toHaveBeenCalledOnce()
  })

  test('refuses what was not requested', async () => {
    const { queue } = opened()
    await expect(queue.push(chunk(4 * HTTP_LIMITS.bufferedBytes + 1))).rejects.toThrow('asked for')
  })

  test('gives what is there before it fails', async () => {
    const { queue, reader } = opened()
    await queue.push(chunk(1))
    queue.fail(new Error('broken'))
    expect((await reader.read()).value).toHaveLength(1)
    await expect(reader.read()).rejects.toThrow('broken')
  })

  test('ends where nothing comes for too long', async () => {
    const { queue, events, reader } = opened()
    await vi.advanceTimersByTimeAsync(HTTP_LIMITS.silenceMs - 1)
    await queue.push(chunk(1))
    await reader.read()
    await vi.advanceTimersByTimeAsync(HTTP_LIMITS.silenceMs - 1)
    expect(events.silent).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(events.silent).toHaveBeenCalledOnce()
  })

  test('is given up where the client takes nothing for too long, even after its end', async () => {
    const { queue, events } = opened()
    await queue.push(chunk(1))
    queue.close()
    await vi.advanceTimersByTimeAsync(HTTP_LIMITS.unreadMs)
    expect(events.left).toHaveBeenCalledOnce()
  })

  test('is given up with the client, and delays no other', async () => {
    const { queue, events, reader } = opened()
    const sent = [queue.push(chunk(HTTP_LIMITS.bufferedBytes)), queue.push(chunk(1))]
    await reader.cancel()
    await Promise.all(sent)
    expect(events.left).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leaves no timer behind at its end', async () => {
    const { queue, events, reader } = opened()
    await queue.push(chunk(1))
    queue.close()
    await reader.read()
    expect(events.ended).not.toHaveBeenCalled()
    expect((await reader.read()).done).toBe(true)
    expect(events.ended).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })
})
