import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'

import { Limiter } from '#base/limiter.ts'
import { objectSizes } from '#platform/objects/object-pages.ts'
import { type ObjectStore, objectKey } from '#platform/objects/object-store.ts'
import type { Artifacts } from '#sites/deployments/artifacts.ts'
import { type ArtifactFile, totalBytes } from '#sites/deployments/model.ts'

import { type EncodedPart, type Encoding, type StaticFile, ENCODINGS } from './manifest.ts'

/** Less fits into one packet as it is. */
const MIN_BYTES = 1024

/** Files of a site that are compressed at a time: it is what the machine's other cores are for. */
const AT_ONCE = 2

/** A file may take seconds: another site's does not wait for it to end. */
const FOR_OTHERS = 1

/** After this long the rest of a deployment is served as it is; the next deployment goes on. */
const MAX_MS = 45_000

/** Effort that suits so many bytes of a deployment. The best one takes two seconds a megabyte. */
const EFFORTS = [
  { upToBytes: 3 * 1024 * 1024, brotli: 11, zstd: 19, gzip: 9 },
  { upToBytes: 24 * 1024 * 1024, brotli: 9, zstd: 12, gzip: 9 },
  { upToBytes: Infinity, brotli: 5, zstd: 6, gzip: 6 },
] as const

const COMPRESS = {
  br: (bytes, { brotli }) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotli,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  zstd: (bytes, { zstd }) =>
    promisify(zstdCompress)(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: zstd },
      pledgedSrcSize: bytes.byteLength,
    }),
  gzip: (bytes, { gzip: level }) => promisify(gzip)(bytes, { level }),
} as const satisfies Record<Encoding, (bytes: Uint8Array, effort: Effort) => Promise<Uint8Array>>

type Encodings = NonNullable<StaticFile['encodings']>

type Effort = Omit<(typeof EFFORTS)[number], 'upToBytes'>

/**
 * Compressed forms of a site's files: those of one file in one object, one behind the other, under the hash of the file. Made
 * once, however many deployments have the file, and kept as long as one of them is.
 */
export class EncodedFiles {
  readonly #deps
  readonly #limiter = new Limiter({
    permits: AT_ONCE + FOR_OTHERS,
    reservedPermits: FOR_OTHERS,
    refuse: () => new Error('The compression was aborted'),
  })

  constructor(deps: {
    readonly objects: Pick<ObjectStore, 'put' | 'list' | 'delete'>
    readonly artifacts: Pick<Artifacts, 'open'>
  }) {
    this.#deps = deps
  }

  /** Compresses and stores, by hash. What the time did not suffice for is left out. */
  async encode(
    siteId: string,
    files: readonly ArtifactFile[],
  ): Promise<ReadonlyMap<string, Encodings>> {
    const worthwhile = files.filter(({ sizeBytes }) => sizeBytes >= MIN_BYTES)
    const effort = effortFor(totalBytes(worthwhile))
    const deadline = AbortSignal.timeout(MAX_MS)
    const encoded = new Map<string, Encodings>()
    const waiting = [...new Map(worthwhile.map((file) => [file.sha256, file])).values()]
    for (const { sha256, sizeBytes } of files) if (sizeBytes < MIN_BYTES) encoded.set(sha256, {})
    const one = async (): Promise<void> => {
      for (let file = waiting.shift(); file && !deadline.aborted; file = waiting.shift()) {
        const { sha256 } = file
        const work = () => this.#encode(siteId, sha256, effort)
        encoded.set(sha256, await this.#limiter.run(work, { key: siteId }))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
    return encoded
  }

  /** Returns the sizes, by hash, of everything stored for the site. */
  stored(siteId: string): Promise<ReadonlyMap<string, number>> {
    return objectSizes(this.#deps.objects, encodedKey(siteId, ''))
  }

  delete(siteId: string, sha256: string): Promise<void> {
    return this.#deps.objects.delete(encodedKey(siteId, sha256))
  }

  async #encode(siteId: string, sha256: string, effort: Effort): Promise<Encodings> {
    const { artifacts, objects } = this.#deps
    const stored = await artifacts.open(siteId, sha256)
    if (!stored) throw new Error(`The stored contents of ${sha256} are gone`)
    const bytes = new Uint8Array(await new Response(stored.body).arrayBuffer())
    const outputs = await compressed(bytes, effort)
    if (outputs.size > 0) {
      await objects.put(encodedKey(siteId, sha256), Buffer.concat([...outputs.values()]))
    }
    return partsOf(outputs)
  }
}

export const encodedKey = (siteId: string, sha256: string): string =>
  objectKey(siteId, 'encoded', sha256)

function partsOf(outputs: ReadonlyMap<Encoding, Uint8Array>): Encodings {
  const parts: Partial<Record<Encoding, EncodedPart>> = {}
  let offset = 0
  for (const [encoding, { byteLength }] of outputs) {
    parts[encoding] = [offset, byteLength]
    offset += byteLength
  }
  return parts
}

/** How hard files of so many bytes together are compressed, so that a deployment does not wait for it too long. */
function effortFor(totalBytes: number): Effort {
  const effort = EFFORTS.find(({ upToBytes }) => totalBytes <= upToBytes)
  return effort ?? { brotli: 5, zstd: 6, gzip: 6 }
}

/** Compresses in the threads of zlib, so that other requests do not wait. Leaves out what is no smaller than the bytes themselves. */
async function compressed(
  bytes: Uint8Array,
  effort: Effort,
): Promise<ReadonlyMap<Encoding, Uint8Array>> {
  const smaller = new Map<Encoding, Uint8Array>()
  for (const encoding of ENCODINGS) {
    const output = await COMPRESS[encoding](bytes, effort)
    if (output.byteLength < bytes.byteLength) smaller.set(encoding, output)
  }
  return smaller
}
