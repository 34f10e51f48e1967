const OBJECT = '.o'
const FOLDER = '.d'
/** In hex, with its suffix, a chunk stays under the 255 bytes that a file name may have. */
const MAX_CHUNK_BYTES = 100
/** Chunks of a key full of slashes are no shorter than this, so that the longest path stays under 4096 bytes. */
const MIN_CHUNK_BYTES = 8
const SLASH = 0x2f

export interface KeyEntry {
  /** The key of an object, or what all keys in a folder begin with. */
  readonly key: Buffer
  readonly kind: 'object' | 'folder'
  readonly name: string
}

/**
 * Where a key's file is. The key is cut behind each slash and each 100 bytes, and every chunk is a name in hex: no traversal,
 * no trouble with case or length, and names in a folder sort as the keys' bytes do. Where a cut falls depends only on the
 * bytes before it, so all keys in a folder begin with the folder's own chunks and no other entry lies between them.
 */
export function pathOfKey(key: string): { readonly folders: string[]; readonly file: string } {
  const chunks = chunksOf(Buffer.from(key))
  const file = chunks.pop() ?? Buffer.alloc(0)
  return {
    folders: chunks.map((chunk) => chunk.toString('hex') + FOLDER),
    file: file.toString('hex') + OBJECT,
  }
}

/** The folders that hold every key with this prefix. */
export function foldersOfPrefix(prefix: string): Buffer[] {
  const bytes = Buffer.from(prefix)
  const chunks = chunksOf(bytes)
  const last = chunks.at(-1)
  // Whether a key is cut where the prefix ends is only certain when the prefix itself ends in a cut.
  if (last !== undefined && !endsInCut(last)) chunks.pop()
  return chunks
}

export const folderName = (chunk: Buffer): string => chunk.toString('hex') + FOLDER

/** Undefined for a name that no key has. */
export function entryOf(name: string, parent: Buffer): KeyEntry | undefined {
  const suffix = name.slice(-2)
  const kind = suffix === OBJECT ? 'object' : suffix === FOLDER ? 'folder' : undefined
  const chunk = Buffer.from(name.slice(0, -2), 'hex')
  if (kind === undefined || chunk.length * 2 !== name.length - 2) return undefined
  return { key: Buffer.concat([parent, chunk]), kind, name }
}

/** Orders by key. An object comes before the folder whose keys begin with its key, because its key is shorter. */
export const byKey = (a: KeyEntry, b: KeyEntry): number =>
  Buffer.compare(a.key, b.key) || (a.kind === b.kind ? 0 : a.kind === 'object' ? -1 : 1)

function chunksOf(key: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  let start = 0
  for (let end = 1; end <= key.length; end++) {
    const chunk = key.subarray(start, end)
    if (end < key.length && !endsInCut(chunk)) continue
    chunks.push(chunk)
    start = end
  }
  return chunks
}

const endsInCut = (chunk: Buffer): boolean =>
  chunk.length === MAX_CHUNK_BYTES || (chunk.length >= MIN_CHUNK_BYTES && chunk.at(-1) === SLASH)
