import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import { pathOfKey } from '#platform/objects/file-key.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { PutOptions } from '#platform/objects/object-store.ts'
import { acknowledge, contentOf } from '#test/power-cut/history.ts'

// Changes objects in a new folder, and says when each change is safe. As on another system if the argument says so.

const [dir = '', platform] = process.argv.slice(2)
if (platform !== undefined) Object.defineProperty(process, 'platform', { value: platform })
const open = () =>
  new FileObjectStore({
    dir,
    urls: { sign: () => Promise.reject(new Error('signs nothing')) },
    clock: systemClock,
  }).open()
const store = await open()

async function put(key: string, version: number, options: PutOptions = {}): Promise<void> {
  await store.put(key, contentOf(key, String(version)), options)
  acknowledge(key, version)
}

async function stream(key: string, version: number): Promise<void> {
  const bytes = contentOf(key, String(version))
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 100))
      controller.enqueue(bytes.subarray(100))
      controller.close()
    },
  })
  await store.put(key, body)
  acknowledge(key, version)
}

async function remove(key: string): Promise<void> {
  await store.delete(key)
  acknowledge(key, '-')
}

const many = (count: number, work: (at: number) => Promise<void>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)))

await put('sites/one/first', 1)
await put('sites/one/first', 2)
await stream('sites/one/streamed', 1)
await stream('sites/one/streamed', 2)
await put('sites/one/new', 1, { ifNoneMatch: '*' })
await put('sites/one/deep/er/gone', 1)
await remove('sites/one/deep/er/gone')
await put('sites/one/deep/er/back', 1)

// Several share a folder that is not there yet, and its flushes.
await many(6, (at) => put(`sites/two/mail/${at}`, 1))
await many(12, async (at) => {
  for (let turn = 0; turn < at % 4; turn++) await put(`sites/two/mail/${at}-${turn}`, 1)
})

// A process that was killed has made these folders.
mkdirSync(join(dir, 'objects', ...pathOfKey('sites/three/left/by').folders), { recursive: true })
await put('sites/three/left/by', 1)
