import { describe, expect, test } from 'vitest'

import { type BodyRest, type DiscardLimits, discardRest, isSkipped } from './unread-body.ts'

const LIMITS: DiscardLimits = { maxBytes: 1000, maxMs: 60_000, silenceMs: 60_000 }
const never = new AbortController().signal

/** A client that sends chunks of 100 bytes, each when `due` allows it. */
class Client implements BodyRest {
  readBytes = 0
  released = false
  readonly #due: () => Promise<unknown>
  readonly #chunks: number

  constructor(chunks: number, due: () => Promise<unknown> = async () => {}) {
    this.#chunks = chunks
    this.#due = due
  }

  async next(): Promise<number | undefined> {
    await this.#due()
    if (this.readBytes === this.#chunks * 100) return undefined
    this.readBytes += 100
    return 100
  }

  release(): void {
    this.released = true
  }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5))
const notYet = () => new Promise(() => {})

describe('the rest of a body', () => {
  test('is read to its end', async () => {
    const client = new Client(7)
    await discardRest(client, never, LIMITS)
    expect(client).toMatchObject({ readBytes: 700, released: true })
  })

  test('is read no further than the limit in bytes', async () => {
    const client = new Client(Infinity)
    await discardRest(client, never, LIMITS)
    expect(client).toMatchObject({ readBytes: 1100, released: true })
  })

  test('is read no longer than the limit in time, however steadily it comes', async () => {
    const client = new Client(Infinity, soon)
    await discardRest(client, never, { ...LIMITS, maxBytes: Infinity, maxMs: 50 })
    expect(client.readBytes).toBeGreaterThan(100)
    expect(client.released).toBe(true)
  })

  test('is not waited for once nothing comes', async () => {
    const client = new Client(Infinity, notYet)
    await discardRest(client, never, { ...LIMITS, silenceMs: 20 })
    expect(client).toMatchObject({ readBytes: 0, released: true })
  })

  test('is not waited for once the server stops', async () => {
    const stopped = new AbortController()
    const client = new Client(Infinity, notYet)
    const discarded = discardRest(client, stopped.signal, LIMITS)
    stopped.abort()
    await discarded
    expect(client.released).toBe(true)
  })

  test('may break off', async () => {
    const client = new Client(3, () => Promise.reject(new Error('reset')))
    await discardRest(client, never, LIMITS)
    expect(client.released).toBe(true)
  })

  test.each([
    ['0', true],
    ['65536', true],
    ['65537', false],
    ['99999999999999999999', false],
    ['1e3', false],
    [null, false],
    [undefined, false],
  ])('of %s bytes is left to the runtime: %s', (contentLength, skipped) => {
    expect(isSkipped(contentLength)).toBe(skipped)
  })
})
