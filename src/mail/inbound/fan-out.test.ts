import { describe, expect, test } from 'vitest'

import { type BodyReader, fanOut } from './fan-out.ts'

async function* chunks(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

function collector(): { readonly reader: BodyReader; readonly parts: string[] } {
  const parts: string[] = []
  const reader: BodyReader = async (body) => {
    const source = body instanceof Uint8Array ? [body] : body
    for await (const part of source) parts.push(Buffer.from(part).toString())
  }
  return { reader, parts }
}

const failing: BodyReader = async (body) => {
  if (!(body instanceof Uint8Array)) for await (const _ of body) break
  throw new Error('no room')
}

describe('two readers', () => {
  test('get what is short in one piece', async () => {
    const [one, two] = [collector(), collector()]
    await fanOut(chunks('ab', 'cd'), 100, [one.reader, two.reader])
    expect([one.parts, two.parts]).toEqual([['abcd'], ['abcd']])
  })

  test('get what is long as it comes', async () => {
    const [one, two] = [collector(), collector()]
    await fanOut(chunks('ab', 'cd', 'ef'), 3, [one.reader, two.reader])
    expect([one.parts, two.parts]).toEqual([
      ['abcd', 'ef'],
      ['abcd', 'ef'],
    ])
  })

  test.each([1, 100])('end when one of them fails, %i bytes in memory', async (memoryBytes) => {
    const other = collector()
    const texts = Array.from({ length: 20 }, () => 'abcd')
    const work = fanOut(chunks(...texts), memoryBytes, [other.reader, failing])
    await expect(work).rejects.toThrow('no room')
  })

  test.each([1, 100])('end when the source does, %i bytes in memory', async (memoryBytes) => {
    const [one, two] = [collector(), collector()]
    const work = fanOut(chunks('abcd', 'efgh', new Error('hung up')), memoryBytes, [
      one.reader,
      two.reader,
    ])
    await expect(work).rejects.toThrow('hung up')
  })

  test('release the source when one of them fails', async () => {
    let hasEnded = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(200_000)
      } finally {
        hasEnded = true
      }
    }
    const work = fanOut(endless(), 1, [collector().reader, failing])
    await expect(work).rejects.toThrow('no room')
    expect(hasEnded).toBe(true)
  })
})
