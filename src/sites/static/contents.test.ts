import { expect, test } from 'vitest'

import { StaticContents, type StaticContentsDeps } from './contents.ts'
import { servedFile } from './routes.ts'

const KIB = 1024

/** A store of files that are as long as they are asked to be, and counts what it is asked for. */
function store() {
  const reads: string[] = []
  const get: StaticContentsDeps['objects']['get'] = async (key, range) => {
    reads.push(key)
    const sizeBytes = (range?.end ?? -1) + 1
    if (key.endsWith('gone')) return undefined
    const head = {
      key: '',
      sizeBytes,
      contentType: '',
      etag: '',
      lastModified: new Date(0),
      metadata: {},
    }
    return { head, body: new Blob([new Uint8Array(sizeBytes)]).stream() }
  }
  return { reads, deps: { objects: { get, head: nothing, blob: nothing } } }
}

const nothing = async () => undefined

const formOf = (name: string, sizeBytes: number) => {
  const file = { path: name, sha256: name, sizeBytes, immutable: false, encodings: {} }
  const [form] = servedFile(file).representations
  if (!form) throw new Error('no form')
  return form
}

test('reads a file once, however many ask, and then has it at once', async () => {
  const { reads, deps } = store()
  const contents = new StaticContents(deps)
  const form = formOf('a', 10)
  const all = await Promise.all([1, 2, 3].map(async () => contents.bytes('one', form)))
  expect(all.map((bytes) => bytes?.byteLength)).toEqual([10, 10, 10])
  expect(contents.bytes('one', form)).toBeInstanceOf(Uint8Array)
  expect(reads).toEqual(['sites/one/artifacts/a'])
})

test('keeps the files of sites apart', async () => {
  const { reads, deps } = store()
  const contents = new StaticContents(deps)
  await contents.bytes('one', formOf('a', 10))
  await contents.bytes('two', formOf('a', 10))
  expect(reads).toEqual(['sites/one/artifacts/a', 'sites/two/artifacts/a'])
})

test('holds no more of a site than its share, and no more in all than there is', async () => {
  const { deps } = store()
  const bounds = { maxBytes: 64 * KIB, maxBytesPerSite: 32 * KIB }
  const contents = new StaticContents(deps, bounds)
  for (let at = 0; at < 100; at++) await contents.bytes('one', formOf(`a${at}`, 4 * KIB))
  expect(contents.bytesHeld).toBeLessThanOrEqual(bounds.maxBytesPerSite)
  for (let at = 0; at < 100; at++) {
    await contents.bytes(`site-${at % 5}`, formOf(`b${at}`, 4 * KIB))
    expect(contents.bytesHeld).toBeLessThanOrEqual(bounds.maxBytes)
  }
  expect(contents.bytesHeld).toBeGreaterThan(bounds.maxBytes / 2)
})

test('says that bytes are gone, and asks again the next time', async () => {
  const { reads, deps } = store()
  const contents = new StaticContents(deps)
  const form = formOf('gone', 10)
  expect(await contents.bytes('one', form)).toBeUndefined()
  expect(await contents.bytes('one', form)).toBeUndefined()
  expect(reads).toHaveLength(2)
})
