import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError } from '#base/app-error.ts'
import { CreateSiteBody } from '#sites/model.ts'

/** Grows when an archive means something that earlier versions would read wrongly. */
export const ARCHIVE_FORMAT = 1

/** What an archive is made of, in its order. Each has a folder of entries. */
export const ARCHIVE_PARTS = ['definition', 'items', 'objects', 'users', 'keys', 'mail'] as const
export type ArchivePart = (typeof ARCHIVE_PARTS)[number]

/** The parts that are exported only when they are asked for. */
export const OPTIONAL_PARTS = ['users', 'keys', 'mail'] as const
export type OptionalPart = (typeof OPTIONAL_PARTS)[number]

/** The parts that an archive without keys must not reveal. */
export const SEALED_PARTS: readonly OptionalPart[] = ['users', 'keys']

/** What the archive begins and ends with. */
export const HEADER_ENTRY = 'croft-site.json'
export const MANIFEST_ENTRY = 'manifest.json'

const MIB = 1024 * 1024
/** Of header and manifest, and of the description of an object. */
export const MAX_DOCUMENT_BYTES = 256 * 1024
/** What an entry of rows is filled to, and where one row alone may take it: a definition of a function is a row. */
export const ROWS_ENTRY_BYTES = MIB
export const MAX_ROWS_ENTRY_BYTES = 48 * MIB
/** As much as S3 takes in one put. */
const MAX_OBJECT_BYTES = 5 * 1024 * MIB
export const MAX_ENTRIES = 20_000_000
/** What an archive may unpack to, unless the import names another number. */
export const DEFAULT_MAX_BYTES = 64 * 1024 * MIB

type EntryKind = 'rows' | 'object' | 'bytes'

const KINDS: Readonly<Record<string, EntryKind>> = { ndjson: 'rows', json: 'object', bin: 'bytes' }
const MOST_BYTES: Readonly<Record<EntryKind, number>> = {
  rows: MAX_ROWS_ENTRY_BYTES,
  object: MAX_DOCUMENT_BYTES,
  bytes: MAX_OBJECT_BYTES,
}

export interface EntryName {
  readonly part: ArchivePart
  readonly number: number
  readonly kind: EntryKind
}

/** `items/0000012.ndjson`: rows, or with `.json` and `.bin` what an object is and its bytes. */
export const entryName = ({ part, number, kind }: EntryName): string => {
  const ending = Object.keys(KINDS).find((each) => KINDS[each] === kind)
  return `${part}/${String(number).padStart(8, '0')}.${ending}`
}

/** What a name in an archive means. No other names are read, and none of them ever becomes a path. */
export function parseEntryName(name: string): EntryName {
  const [, part, digits, ending = ''] = /^([a-z]+)\/(\d{8})\.(ndjson|json|bin)$/.exec(name) ?? []
  const kind = KINDS[ending]
  const known = ARCHIVE_PARTS.find((each) => each === part)
  if (known === undefined || kind === undefined) {
    throw invalidArchive(`it has an entry "${shownName(name)}", which no export writes`)
  }
  return { part: known, number: Number(digits), kind }
}

export function checkEntrySize(name: string, { kind }: EntryName, sizeBytes: number): void {
  const most = MOST_BYTES[kind]
  if (sizeBytes > most) throw archiveTooLarge(`"${name}" has ${sizeBytes} bytes of at most ${most}`)
}

const Passphrase = Type.Object({
  kdf: Type.Literal('scrypt'),
  /** Base64. */
  salt: Type.String({ maxLength: 64 }),
  /** A word that only the right passphrase opens. */
  check: Type.String({ maxLength: 256 }),
})

/** How a site is set up: what `POST /portal/api/sites` takes. */
const ArchivedSite = Type.Composite([
  Type.Omit(CreateSiteBody, ['superAdmins']),
  Type.Object({ currentDeploymentId: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]) }),
])

const PartNames = Type.Array(Type.Union(ARCHIVE_PARTS.map((part) => Type.Literal(part))))

const ArchiveHeader = Type.Object({
  format: Type.Literal('croft-site'),
  formatVersion: Type.Integer({ minimum: 1 }),
  productVersion: Type.String({ maxLength: 64 }),
  /** The moment that all rows are of. */
  exportedAt: Type.String({ maxLength: 40 }),
  parts: PartNames,
  site: ArchivedSite,
  /** Null where nothing in it is sealed. */
  passphrase: Type.Union([Passphrase, Type.Null()]),
})
export type ArchiveHeader = Static<typeof ArchiveHeader>

/** A secret that was left behind: it has to be set where the site goes. */
export const MissingSecret = Type.Object({ kind: Type.String(), name: Type.String() })
export type MissingSecret = Static<typeof MissingSecret>

const PartFacts = Type.Object({
  entries: Type.Integer(),
  bytes: Type.Integer(),
  /** Of names, lengths and bytes of all its entries, in their order. */
  sha256: Type.String(),
})
export type PartFacts = Static<typeof PartFacts>

export const ArchiveManifest = Type.Object({
  parts: Type.Record(Type.String(), PartFacts),
  /** By table. */
  rows: Type.Record(Type.String(), Type.Integer()),
  objects: Type.Integer(),
  missingSecrets: Type.Array(MissingSecret),
})
export type ArchiveManifest = Static<typeof ArchiveManifest>

/** Refuses an archive of a later format by name, whatever else it says. */
export function parseHeader(bytes: Uint8Array): ArchiveHeader {
  const value = parseJson(HEADER_ENTRY, bytes)
  const version = Value.Check(VERSIONED, value) ? value.formatVersion : undefined
  if (version === undefined) throw invalidArchive('it is not the export of a site')
  if (version > ARCHIVE_FORMAT) {
    throw new AppError(
      'UnsupportedArchive',
      `The archive has the format ${version}, and this service reads up to ${ARCHIVE_FORMAT}: update it`,
    )
  }
  return checked(ArchiveHeader, HEADER_ENTRY, value)
}

const VERSIONED = Type.Object({
  format: Type.Literal('croft-site'),
  formatVersion: Type.Integer({ minimum: 1 }),
})

export const parseArchiveManifest = (bytes: Uint8Array): ArchiveManifest =>
  checked(ArchiveManifest, MANIFEST_ENTRY, parseJson(MANIFEST_ENTRY, bytes))

export function parseJson(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw invalidArchive(`"${shownName(name)}" is not JSON`, cause)
  }
}

export function checked<Schema extends TSchema>(
  schema: Schema,
  name: string,
  value: unknown,
): Static<Schema> {
  if (Value.Check(schema, value)) return value
  throw invalidArchive(`"${shownName(name)}" does not say what it should`)
}

export const invalidArchive = (reason: string, cause?: unknown): AppError =>
  new AppError('InvalidArchive', `The archive cannot be imported: ${reason}`, { cause })

export const archiveTooLarge = (reason: string): AppError =>
  new AppError('ArchiveTooLarge', `The archive is too large: ${reason}`)

/** The maker of the archive chose it. */
const shownName = (name: string): string => name.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 120)
