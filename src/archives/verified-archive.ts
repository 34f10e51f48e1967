import { isDeepStrictEqual } from 'node:util'

import {
  type ArchiveHeader,
  type ArchiveManifest,
  ARCHIVE_PARTS,
  type EntryName,
  HEADER_ENTRY,
  MANIFEST_ENTRY,
  MAX_DOCUMENT_BYTES,
  checkEntrySize,
  invalidArchive,
  parseEntryName,
  parseHeader,
  parseArchiveManifest,
} from './archive-format.ts'
import { type PackedEntry, readArchive, wholeEntry } from './archive-reader.ts'
import { PartDigests } from './part-digests.ts'

export interface VerifiedArchive {
  readonly header: ArchiveHeader
  readonly manifest: ArchiveManifest
}

/** Called with the header before the rest is read; may throw what is wrong with it. */
export type OnHeader = (header: ArchiveHeader) => void | Promise<void>

/** Reads all of an archive and keeps none of it. Throws unless every part is what the manifest at its end says. */
export async function verifyArchive(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onHeader: OnHeader = () => {},
): Promise<VerifiedArchive> {
  const digests = new PartDigests()
  const order = new EntryOrder()
  let header: ArchiveHeader | undefined
  let manifest: ArchiveManifest | undefined
  for await (const entry of readArchive(source, maxBytes)) {
    if (manifest !== undefined) throw invalidArchive('something follows its manifest')
    if (header === undefined) {
      header = parseHeader(await documentIn(entry, HEADER_ENTRY))
      await onHeader(header)
    } else if (entry.name === MANIFEST_ENTRY) {
      manifest = parseArchiveManifest(await documentIn(entry, MANIFEST_ENTRY))
    } else {
      await digest(entry, order.next(entry), digests)
    }
  }
  if (header === undefined || manifest === undefined) throw invalidArchive('not all of it is there')
  checkParts(digests, manifest)
  return { header, manifest }
}

async function digest(entry: PackedEntry, { part }: EntryName, digests: PartDigests) {
  digests.begin(part, entry.name, entry.sizeBytes)
  for await (const bytes of entry.bytes) digests.add(part, bytes)
}

/** The first entry is known by its place, so that a file that is no archive of ours is recognized. */
function documentIn(entry: PackedEntry, name: string): Promise<Buffer> {
  if (entry.name !== name) throw invalidArchive('it is not the export of a site')
  return wholeEntry(entry, MAX_DOCUMENT_BYTES)
}

function checkParts(digests: PartDigests, manifest: ArchiveManifest): void {
  const found = digests.facts()
  for (const part of new Set([...Object.keys(found), ...Object.keys(manifest.parts)])) {
    if (!isDeepStrictEqual(found[part], manifest.parts[part])) {
      throw invalidArchive(`its part "${part}" is not what the manifest says`)
    }
  }
}

/** Parts come in their order, entries by their numbers, and bytes right behind what they are the bytes of. */
class EntryOrder {
  #last: EntryName | undefined

  next({ name, sizeBytes }: PackedEntry): EntryName {
    const entry = parseEntryName(name)
    if (!follows(entry, this.#last)) throw invalidArchive('its entries are not in their order')
    checkEntrySize(name, entry, sizeBytes)
    this.#last = entry
    return entry
  }
}

function follows(entry: EntryName, last: EntryName | undefined): boolean {
  if (last?.kind === 'object') return isDeepStrictEqual(entry, { ...last, kind: 'bytes' })
  if (entry.kind === 'bytes') return false
  const [place, lastPlace] = [placeOf(entry), last === undefined ? -1 : placeOf(last)]
  if (place !== lastPlace) return place > lastPlace && entry.number === 1
  return entry.number === (last?.number ?? 0) + 1
}

/** The objects of a part follow its rows, and have numbers of their own. */
const placeOf = ({ part, kind }: EntryName): number =>
  2 * ARCHIVE_PARTS.indexOf(part) + (kind === 'rows' ? 0 : 1)
