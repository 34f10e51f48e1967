import type { DiskRoom } from '#platform/disk/disk-room.ts'

import type { ObjectBody, ObjectStore } from './object-store.ts'

/** The same store, which takes nothing more while there is no room: for the objects themselves, or for what the database keeps of them. */
export class RoomyObjectStore implements ObjectStore {
  readonly bounds: ObjectStore['bounds']
  readonly #store: ObjectStore
  readonly #disk: DiskRoom

  constructor(store: ObjectStore, disk: DiskRoom) {
    this.#store = store
    this.#disk = disk
    this.bounds = store.bounds
  }

  put: ObjectStore['put'] = async (key, body, options) => {
    this.#check()
    return this.#store.put(key, this.#checked(body), options)
  }

  get: ObjectStore['get'] = (...request) => this.#store.get(...request)

  blob: ObjectStore['blob'] = (...request) => this.#store.blob(...request)

  head: ObjectStore['head'] = (key) => this.#store.head(key)

  delete: ObjectStore['delete'] = (key) => this.#store.delete(key)

  copy: ObjectStore['copy'] = (from, to) => this.#store.copy(from, to)

  list: ObjectStore['list'] = (options) => this.#store.list(options)

  presignGet: ObjectStore['presignGet'] = (...request) => this.#store.presignGet(...request)

  presignPut: ObjectStore['presignPut'] = async (...request) => {
    this.#check()
    return this.#store.presignPut(...request)
  }

  ping(): Promise<void> {
    return this.#store.ping()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#store[Symbol.asyncDispose]()
  }

  #check(): void {
    this.#disk.check('objects', 'database')
  }

  /** A long body would fill the disk after it was begun. */
  #checked(body: ObjectBody): ObjectBody {
    if (body instanceof Uint8Array) return body
    return body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.#check()
          controller.enqueue(chunk)
        },
      }),
    )
  }
}
