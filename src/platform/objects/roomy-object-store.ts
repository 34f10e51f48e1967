import type { DiskRoom } from '#platform/disk/disk-room.ts'

import type { ObjectBody, ObjectHead, ObjectStore, PutOptions } from './object-store.ts'
import { WrappedObjectStore } from './wrapped-object-store.ts'

/** The same store, which takes nothing more while there is no room: for the objects themselves, or for what the database keeps of them. */
export class RoomyObjectStore extends WrappedObjectStore {
  readonly #disk: DiskRoom

  constructor(store: ObjectStore, disk: DiskRoom) {
    super(store)
    this.#disk = disk
  }

  override async put(key: string, body: ObjectBody, options?: PutOptions): Promise<ObjectHead> {
    this.#check()
    return this.store.put(key, this.#checked(body), options)
  }

  override async presignPut(
    ...request: Parameters<ObjectStore['presignPut']>
  ): ReturnType<ObjectStore['presignPut']> {
    this.#check()
    return this.store.presignPut(...request)
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
