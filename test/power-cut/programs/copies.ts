import { systemClock } from '#base/clock.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import { acknowledge, contentOf } from '#test/power-cut/history.ts'

// Copies an object, as before it is deleted while a backup is made.

const [dir = ''] = process.argv.slice(2)
const store = await new FileObjectStore({
  dir,
  urls: { sign: () => Promise.reject(new Error('signs nothing')) },
  clock: systemClock,
}).open()
await store.put('sites/one/copied', contentOf('kept/one/copied', '1'))
await store.copy('sites/one/copied', 'kept/one/copied')
acknowledge('kept/one/copied', 1)
await store.delete('sites/one/copied')
