import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'

import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { type ObjectStore, objectKey } from '#platform/objects/object-store.ts'
import type { Database } from '#platform/postgres/database.ts'

import { type StoredPack, selectRepository } from './queries.ts'

const LIST_PAGE = 1000
/** Age at which a pack that no repository names was surely left behind by a push that was refused or broke off. */
const ORPHAN_MS = 24 * 3_600_000

export interface NewPack {
  /** As git names it. */
  readonly pack: string
  readonly path: string
  readonly size: number
}

/** The bytes of repositories, in the object store. */
export class RepositoryPacks {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly objects: ObjectStore
    readonly clock: Clock
    readonly ids: Ids
  }) {
    this.#deps = deps
  }

  /** Durable when it resolves. Nothing relies on it before a transaction names it. */
  async put(siteId: string, { pack, path, size: sizeBytes }: NewPack): Promise<StoredPack> {
    const { objects, ids } = this.#deps
    const objectId = ids.named('pack')
    await objects.put(keyOf(siteId, objectId), streamOf(path), { maxBytes: sizeBytes })
    return { pack, objectId, sizeBytes }
  }

  async get(siteId: string, { objectId }: StoredPack): Promise<ReadableStream<Uint8Array>> {
    const found = await this.#deps.objects.get(keyOf(siteId, objectId))
    if (!found) throw new Error(`The stored pack "${objectId}" is gone`)
    return found.body
  }

  delete(siteId: string, { objectId }: StoredPack): Promise<void> {
    return this.#deps.objects.delete(keyOf(siteId, objectId))
  }

  /** Deletes what no repository has named for a day. */
  async sweep(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, objects, clock } = this.#deps
    const before = clock.now().getTime() - ORPHAN_MS
    const listed = await objects.list({ prefix: keyOf(siteId, ''), maxKeys: LIST_PAGE })
    const old = listed.objects.filter(({ lastModified }) => lastModified.getTime() < before)
    if (old.length === 0) return
    // Read after the list: what was put before the list and named since is not deleted.
    const repository = await database.withSite(siteId, selectRepository)
    const named = new Set(repository?.packs.map(({ objectId }) => keyOf(siteId, objectId)))
    for (const { key } of old) {
      signal.throwIfAborted()
      if (!named.has(key)) await objects.delete(key)
    }
  }
}

const keyOf = (siteId: string, objectId: string): string => objectKey(siteId, 'git', objectId)

/** The runtimes' types of a web stream differ. */
function streamOf(path: string): ReadableStream<Uint8Array> {
  const chunks = Readable.from(createReadStream(path)).iterator()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(new Uint8Array(value))
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
