import { buffer } from 'node:stream/consumers'

import { hasCode } from '#base/error-code.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { BackupPlace } from './backup-place.ts'

const LIST_PAGE = 1000

/** A prefix in a bucket of S3. */
export class S3Place implements BackupPlace {
  readonly address: string
  readonly #store: ObjectStore
  readonly #prefix: string

  constructor(store: ObjectStore, { bucket, prefix }: { bucket: string; prefix: string }) {
    this.#store = store
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  }

  async read(name: string): Promise<Buffer | undefined> {
    const found = await this.#store.get(this.#prefix + name)
    return found && buffer(found.body)
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#store.put(this.#prefix + name, bytes)
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#store.put(this.#prefix + name, bytes, { ifNoneMatch: '*' })
      return true
    } catch (error) {
      if (hasCode(error, 'PreconditionFailed')) return false
      throw error
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    let continuation: string | undefined
    do {
      const page = await this.#store.list({
        prefix: `${this.#prefix}${folder}/`,
        maxKeys: LIST_PAGE,
        ...(continuation !== undefined && { continuation }),
      })
      for (const { key } of page.objects) yield key.slice(this.#prefix.length)
      continuation = page.continuation
    } while (continuation !== undefined)
  }

  async delete(name: string): Promise<void> {
    await this.#store.delete(this.#prefix + name)
  }

  /** S3 acknowledges what it keeps. */
  async flush(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
