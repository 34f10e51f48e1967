import { createHash } from 'node:crypto'

import type { ObjectBody, ObjectHead, ObjectStore, PutOptions } from './object-store.ts'
import { WrappedObjectStore } from './wrapped-object-store.ts'

/** What keeps objects for backups that are being made. */
export interface ObjectHolds {
  /** Ids of those for which objects are kept now. */
  current(): Promise<readonly string[]>
  /** Notes that an object is kept; false when that backup has ended. */
  note(holdId: string, key: string): Promise<boolean>
}

/** Where an object is while a backup may still want it: keys may be as long as a store takes. */
export const keptKey = (holdId: string, key: string): string =>
  `kept/${holdId}/${createHash('sha256').update(key).digest('hex')}`

/**
 * The same store, which forgets nothing while a backup is made: what is deleted, or replaced in a bucket, is kept beside first.
 * All other objects are written once.
 */
export class KeepingObjectStore extends WrappedObjectStore {
  readonly #holds: ObjectHolds

  constructor(store: ObjectStore, holds: ObjectHolds) {
    super(store)
    this.#holds = holds
  }

  override async put(key: string, body: ObjectBody, options?: PutOptions): Promise<ObjectHead> {
    if (!isReplaceable(key) || options?.ifNoneMatch === '*') {
      return this.store.put(key, body, options)
    }
    if (body instanceof Uint8Array) {
      await this.#keep(key)
      return this.store.put(key, body, options)
    }
    return this.store.put(key, this.#keepingAtEnd(key, body), options)
  }

  override async delete(key: string): Promise<void> {
    await this.#keep(key)
    return this.store.delete(key)
  }

  async #keep(key: string): Promise<void> {
    for (const holdId of await this.#holds.current()) {
      const kept = keptKey(holdId, key)
      if (!(await this.store.copy(key, kept))) continue
      if (!(await this.#holds.note(holdId, key))) await this.store.delete(kept)
    }
  }

  /** A backup may begin while a long body comes: what it replaces goes when it has come. */
  #keepingAtEnd(key: string, body: ReadableStream<Uint8Array>): ObjectBody {
    return body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({ flush: () => this.#keep(key) }),
    )
  }
}

/** Keys of buckets are chosen by sites. All others are of what they hold. */
const isReplaceable = (key: string): boolean => key.split('/', 3)[2] === 'buckets'
