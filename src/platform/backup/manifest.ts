import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { SetupError } from '#config/setup-error.ts'

import type { BackupPlace } from './backup-place.ts'

/** Grows when an older Croft could not read what a newer one writes. */
export const FORMAT = 1
const FOLDER = 'manifests'
const NAME = /^manifests\/(\d{8}T\d{6}Z-[0-9a-f]{6})\.json$/

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })

const DumpedTable = Type.Object({
  schema: Type.String(),
  name: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Count,
  bytes: Count,
  /** In their order they are what `COPY … FROM STDIN` takes. */
  chunks: Type.Array(Sha256),
})
export type DumpedTable = Static<typeof DumpedTable>

const DumpedSequence = Type.Object({
  schema: Type.String(),
  name: Type.String(),
  /** 64 bits, so text. */
  value: Type.String(),
  isCalled: Type.Boolean(),
})
export type DumpedSequence = Static<typeof DumpedSequence>

const ObjectList = Type.Object({
  count: Count,
  bytes: Count,
  /** Lines of JSON, one an object, in key order. */
  chunks: Type.Array(Sha256),
})
export type DumpedObjects = Static<typeof ObjectList>

const Manifest = Type.Object({
  format: Type.Integer(),
  id: Type.String(),
  /** Everything that was acknowledged before is in the backup. By the database's clock. */
  moment: Type.String(),
  finishedAt: Type.String(),
  /** Where PostgreSQL's log was at that moment. */
  lsn: Type.String(),
  croft: Type.String(),
  postgres: Type.String(),
  migrations: Type.Array(Type.Object({ name: Type.String(), sha256: Type.String() })),
  queueVersion: Count,
  /** Tells the master key of the installation from others, and nothing about it. */
  keyCheck: Sha256,
  tables: Type.Array(DumpedTable),
  sequences: Type.Array(DumpedSequence),
  objects: ObjectList,
  /** Objects that were replaced or deleted while the backup was made, as they were before: they go over those of `objects`. */
  kept: ObjectList,
  sent: Type.Object({ chunks: Count, bytes: Count }),
})
/** What a backup consists of. It is written last: without it there is no backup. */
export type Manifest = Static<typeof Manifest>

const Envelope = Type.Object({ manifest: Type.String(), sha256: Sha256, seal: Sha256 })

/** Signs what a backup says of itself; `Sealer.derive('backup')`. */
export type BackupKey = Uint8Array

export async function writeManifest(
  place: BackupPlace,
  manifest: Manifest,
  key: BackupKey,
): Promise<void> {
  const text = JSON.stringify(manifest)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const envelope = { manifest: text, sha256, seal: signed(key, sha256) }
  await place.write(`${FOLDER}/${manifest.id}.json`, Buffer.from(JSON.stringify(envelope)))
}

/** Durably: none of them comes back when the power is cut while their parts are deleted. */
export async function deleteBackups(place: BackupPlace, ids: readonly string[]): Promise<void> {
  for (const id of ids) await place.delete(`${FOLDER}/${id}.json`)
  await place.flush(FOLDER)
}

/** Ids of whole backups, the oldest first. */
export async function listBackups(place: BackupPlace): Promise<string[]> {
  const ids: string[] = []
  for await (const name of place.list(FOLDER)) {
    const id = NAME.exec(name)?.[1]
    if (id !== undefined) ids.push(id)
  }
  return ids.sort()
}

/** The backup of that id, or the newest. */
export async function readManifest(
  place: BackupPlace,
  at: string | undefined,
): Promise<OpenedManifest> {
  const ids = await listBackups(place)
  const id = at ?? ids.at(-1)
  if (id === undefined) throw new SetupError(`There is no backup in "${place.address}"`)
  const bytes = ids.includes(id) ? await place.read(`${FOLDER}/${id}.json`) : undefined
  if (bytes === undefined) {
    throw new SetupError(
      `There is no backup "${id}" in "${place.address}": "croft backup list --from ${place.address}" tells which there are`,
    )
  }
  return opened(bytes.toString(), id)
}

export interface OpenedManifest {
  readonly manifest: Manifest
  /** What a key of the installation must have made of it. */
  readonly seal: string
  readonly sha256: string
}

/** Whether that key was the installation's, and the manifest is what it signed. */
export function assertKeyFits({ manifest, seal, sha256 }: OpenedManifest, key: BackupKey): void {
  if (!isSame(manifest.keyCheck, keyCheckOf(key, manifest.id))) {
    throw new SetupError(
      `The master key is not that of the installation of backup "${manifest.id}", and would open none of its secrets: ` +
        'set CROFT_MASTER_KEY to the one that it had, or put its file "master.key" into the data folder',
    )
  }
  if (!isSame(seal, signed(key, sha256))) throw changed(manifest.id)
}

export const keyCheckOf = (key: BackupKey, id: string): string => signed(key, `key of ${id}`)

const signed = (key: BackupKey, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex')

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

function opened(text: string, id: string): OpenedManifest {
  const envelope = parsed(text, id)
  if (!Value.Check(Envelope, envelope)) throw changed(id)
  const { manifest: inner, sha256, seal } = envelope
  if (createHash('sha256').update(inner).digest('hex') !== sha256) throw changed(id)
  const manifest = parsed(inner, id)
  assertFormat(manifest, id)
  if (!Value.Check(Manifest, manifest) || manifest.id !== id) throw changed(id)
  return { manifest, sha256, seal }
}

function assertFormat(manifest: unknown, id: string): void {
  if (!Value.Check(Type.Object({ format: Type.Integer() }), manifest)) throw changed(id)
  if (manifest.format === FORMAT) return
  throw new SetupError(
    `The backup "${id}" was made by a newer Croft, which writes backups otherwise: use that version, or a newer one`,
  )
}

function parsed(text: string, id: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw changed(id)
  }
}

const changed = (id: string): SetupError =>
  new SetupError(`The manifest of backup "${id}" has been changed since it was written`)
