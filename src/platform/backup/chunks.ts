import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'

import { SetupError } from '#config/setup-error.ts'

import type { BackupPlace } from './backup-place.ts'

const FOLDER = 'chunks'
/** Rows and lists are text and become a fraction; objects are mostly compressed already, and stay readable without us. */
const FORMS = { packed: '.zst', plain: '' } as const
/** No chunk is longer: what says so was not written by a backup. */
const MAX_CHUNK_BYTES = 64 * 1024 * 1024
const NAME = /^chunks\/[0-9a-f]{2}\/([0-9a-f]{64})(?:\.zst)?$/

export type ChunkForm = keyof typeof FORMS

export interface ChunkRef {
  /** Of the content, before it is compressed. */
  readonly sha256: string
  readonly form: ChunkForm
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Pieces of a backup under the SHA-256 of their content: what one backup has sent, no later one sends again. */
export class Chunks {
  readonly #place: BackupPlace
  /** About 150 bytes of memory for each, which is all that grows with the size of an installation. */
  readonly #known: Set<string>
  readonly sent = { chunks: 0, bytes: 0 }

  private constructor(place: BackupPlace, known: Set<string>) {
    this.#place = place
    this.#known = known
  }

  /** Asks once what is there. */
  static async open(place: BackupPlace): Promise<Chunks> {
    const known = new Set<string>()
    for await (const name of listChunks(place)) known.add(name)
    // A backup that was killed may have left some that a power cut would take.
    for (const folder of new Set([...known].map((name) => dirname(name)))) await place.flush(folder)
    return new Chunks(place, known)
  }

  has(ref: ChunkRef): boolean {
    return this.#known.has(chunkName(ref))
  }

  async put(content: Uint8Array, form: ChunkForm): Promise<string> {
    const sha256 = createHash('sha256').update(content).digest('hex')
    const name = chunkName({ sha256, form })
    if (this.#known.has(name)) return sha256
    const bytes = form === 'packed' ? await compress(content) : content
    await this.#place.write(name, bytes)
    this.#known.add(name)
    this.sent.chunks++
    this.sent.bytes += bytes.byteLength
    return sha256
  }
}

/** Names of all parts, in no order. */
export async function* listChunks(place: BackupPlace): AsyncGenerator<string> {
  for await (const name of place.list(FOLDER)) if (NAME.test(name)) yield name
}

/** The content of a chunk, held against its name. Throws `ChunkFault` where it is not what was written. */
export async function readChunk(place: BackupPlace, ref: ChunkRef): Promise<Buffer> {
  const name = chunkName(ref)
  const stored = await place.read(name)
  if (stored === undefined) throw new ChunkFault(name, 'is missing')
  const content = ref.form === 'plain' ? stored : await unpacked(stored, name)
  if (createHash('sha256').update(content).digest('hex') !== ref.sha256) {
    throw new ChunkFault(name, 'has been changed since it was written')
  }
  return content
}

/** A part of a backup that is not what it was. */
export class ChunkFault extends SetupError {
  readonly chunk: string

  constructor(chunk: string, what: string) {
    super(`The part "${chunk}" of the backup ${what}`)
    this.chunk = chunk
  }
}

export const chunkName = ({ sha256, form }: ChunkRef): string =>
  `${FOLDER}/${sha256.slice(0, 2)}/${sha256}${FORMS[form]}`

async function unpacked(stored: Buffer, name: string): Promise<Buffer> {
  try {
    return await decompress(stored, { maxOutputLength: MAX_CHUNK_BYTES })
  } catch {
    // Whatever zstd says of it: it is not what was written.
    throw new ChunkFault(name, 'has been changed since it was written')
  }
}
