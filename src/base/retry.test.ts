import { describe, expect, test } from 'vitest'

import { retry } from './retry.ts'

class Passing extends Error {}

const isRetryable = (error: unknown) => error instanceof Passing

/** Fails so many times, each time with another error. */
function failing(times: number) {
  const attempts: number[] = []
  const work = async (attempt: number) => {
    attempts.push(attempt)
    if (attempts.length <= times) throw new Passing(`failure ${attempt}`)
    return 'done'
  }
  return { attempts, work }
}

describe('retry', () => {
  test('gives the result of the first attempt that succeeds', async () => {
    const { attempts, work } = failing(2)
    expect(await retry(work, { isRetryable })).toBe('done')
    expect(attempts).toEqual([1, 2, 3])
  })

  test('rejects at once with what is not retryable', async () => {
    let attempts = 0
    const work = async () => {
      attempts += 1
      throw new TypeError('no')
    }
    await expect(retry(work, { isRetryable })).rejects.toThrow(TypeError)
    expect(attempts).toBe(1)
  })

  test('rejects with the last error after the last attempt', async () => {
    const { attempts, work } = failing(9)
    await expect(retry(work, { isRetryable, attempts: 3 })).rejects.toThrow('failure 3')
    expect(attempts).toEqual([1, 2, 3])
  })

  test('makes its own error of the last one', async () => {
    const exhausted = (cause: unknown) => new Error('busy', { cause })
    const gaveUp = retry(failing(9).work, { isRetryable, attempts: 2, exhausted })
    await expect(gaveUp).rejects.toMatchObject({
      message: 'busy',
      cause: { message: 'failure 2' },
    })
  })

  test('waits between attempts, and not after the last one', async () => {
    const waits: number[] = []
    const delayMs = (attempt: number) => (waits.push(attempt), 1)
    await expect(retry(failing(9).work, { isRetryable, attempts: 3, delayMs })).rejects.toThrow(
      'failure 3',
    )
    expect(waits).toEqual([1, 2])
  })

  test('stops waiting at the signal', async () => {
    const controller = new AbortController()
    const { attempts, work } = failing(9)
    const { signal } = controller
    const stopped = retry(work, { isRetryable, delayMs: () => 60_000, signal })
    // By then it waits.
    setImmediate(() => controller.abort(new Error('stopped')))
    await expect(stopped).rejects.toThrow('stopped')
    expect(attempts).toEqual([1])
  })
})
