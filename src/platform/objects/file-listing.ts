import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import {
  type KeyEntry,
  byKey,
  entryOf,
  folderName,
  foldersOfPrefix,
  pathOfKey,
} from './file-key.ts'

/** One line of a listing: an object, or what several keys share up to the delimiter. */
export type Listed =
  | { readonly kind: 'object'; readonly key: string; readonly path: string }
  | { readonly kind: 'commonPrefix'; readonly key: string }

export interface ListingQuery {
  readonly prefix: string
  readonly delimiter: string | undefined
  /** Only keys behind this one. */
  readonly after: string
  /** Keys that begin with this are behind us too. */
  readonly skip: string | undefined
}

/** Walks the tree in key order, reading only the folders that can hold an answer. */
export async function* listing(root: string, query: ListingQuery): AsyncGenerator<Listed> {
  const chunks = foldersOfPrefix(query.prefix)
  const start = Buffer.concat(chunks)
  const walk = new Walk(query)
  // The object whose key is the prefix itself lies beside the folder that the prefix names.
  if (start.length > 0 && start.equals(Buffer.from(query.prefix))) {
    yield* walk.only(query.prefix, root)
  }
  yield* walk.folder(join(root, ...chunks.map(folderName)), start)
}

class Walk {
  readonly #prefix: Buffer
  readonly #delimiter: Buffer | undefined
  readonly #after: Buffer
  #skip: Buffer | undefined

  constructor(query: ListingQuery) {
    this.#prefix = Buffer.from(query.prefix)
    this.#delimiter = query.delimiter ? Buffer.from(query.delimiter) : undefined
    this.#after = Buffer.from(query.after)
    this.#skip = query.skip === undefined ? undefined : Buffer.from(query.skip)
  }

  async *only(key: string, root: string): AsyncGenerator<Listed> {
    const { folders, file } = pathOfKey(key)
    const path = join(root, ...folders, file)
    const behind = Buffer.from(key).compare(this.#after) <= 0 || this.#skip !== undefined
    if (!behind && (await exists(path))) yield { kind: 'object', key, path }
  }

  async *folder(path: string, parent: Buffer): AsyncGenerator<Listed> {
    for (const entry of await this.#entries(path, parent)) {
      if (this.#skip && startsWith(entry.key, this.#skip)) continue
      const inside = join(path, entry.name)
      if (entry.kind === 'folder') yield* this.folder(inside, entry.key)
      else yield this.#object(entry.key, inside)
    }
  }

  #object(key: Buffer, path: string): Listed {
    const from = this.#prefix.length
    const cut = this.#delimiter === undefined ? -1 : key.indexOf(this.#delimiter, from)
    if (cut === -1 || this.#delimiter === undefined) {
      return { kind: 'object', key: key.toString(), path }
    }
    this.#skip = key.subarray(0, cut + this.#delimiter.length)
    return { kind: 'commonPrefix', key: this.#skip.toString() }
  }

  /** A folder that is not there, or goes while it is read, has no entries. */
  async #entries(path: string, parent: Buffer): Promise<KeyEntry[]> {
    const names = await readdir(path).catch(ignoreMissing)
    return names
      .map((name) => entryOf(name, parent))
      .filter((entry) => entry !== undefined)
      .filter((entry) => this.#canMatch(entry))
      .toSorted(byKey)
  }

  #canMatch({ key, kind }: KeyEntry): boolean {
    if (kind === 'object') return startsWith(key, this.#prefix) && key.compare(this.#after) > 0
    const length = Math.min(key.length, this.#prefix.length)
    if (!key.subarray(0, length).equals(this.#prefix.subarray(0, length))) return false
    // All of a folder is behind us when its beginning is smaller and is not where we stopped.
    return key.compare(this.#after) > 0 || startsWith(this.#after, key)
  }
}

const startsWith = (key: Buffer, prefix: Buffer): boolean =>
  key.length >= prefix.length && key.subarray(0, prefix.length).equals(prefix)

function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
  throw error
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
