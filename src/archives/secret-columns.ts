import { isJsonObject } from '#base/json-object.ts'
import {
  hashKeyId,
  keyIdOf,
  passwordKeySealContext,
  withKeyId,
  withoutKeyId,
} from '#identity/passwords/hash-keys.ts'
import type { Sealer, WrappedSiteKey } from '#platform/seal/sealer.ts'

import { invalidArchive } from './archive-format.ts'
import type { ArchiveSeal } from './archive-seal.ts'
import type { ArchivedTable } from './archived-table.ts'

export interface RowSeals {
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly siteKey: WrappedSiteKey
  /** What this installation hashes passwords with. */
  readonly passwordKey: Uint8Array
  /** Undefined for secrets that every reader of the archive may have. */
  readonly archive: ArchiveSeal | undefined
}

/** A row as it leaves: what the key of its site has sealed is opened, and sealed for the archive. */
export function leavingRow(line: string, { secrets = {} }: ArchivedTable, seals: RowSeals): string {
  const row: Record<string, unknown> = { ...rowIn(line) }
  for (const [name, column] of Object.entries(secrets)) {
    const value = row[name]
    if (value === null) continue
    const context = column.context(row)
    const secret = column.isPasswordHash
      ? Buffer.from(leavingHash(text(value), seals.passwordKey))
      : openedHere(text(value), { ...seals, context })
    row[name] = seals.archive?.seal(context, secret) ?? secret.toString('base64')
  }
  return JSON.stringify(row)
}

/** The same row as the site that takes it in keeps it. */
export function arrivingRow(
  line: string,
  { secrets = {} }: ArchivedTable,
  seals: RowSeals,
): string {
  const row: Record<string, unknown> = { ...rowIn(line) }
  for (const [name, column] of Object.entries(secrets)) {
    const value = row[name]
    if (value === null) continue
    const context = column.context(row)
    const secret = seals.archive?.unseal(context, text(value)) ?? Buffer.from(text(value), 'base64')
    row[name] = column.isPasswordHash
      ? arrivingHash(secret.toString(), seals.passwordKey)
      : `\\x${seals.sealer.seal(seals.siteKey, context, secret).toString('hex')}`
  }
  return JSON.stringify(row)
}

/** The row of the key that passwords here are hashed with, as it leaves. */
export function leavingPasswordKey({ archive, passwordKey }: RowSeals): string {
  const keyId = hashKeyId(passwordKey)
  const sealed = archive?.seal(passwordKeySealContext(keyId), passwordKey)
  return JSON.stringify({ key_id: keyId, sealed })
}

/** Whether a row is that of the key which passwords are hashed with where it arrives. */
export const isOwnPasswordKey = (line: string, { passwordKey }: RowSeals): boolean =>
  rowIn(line)['key_id'] === hashKeyId(passwordKey)

const leavingHash = (hash: string, ownKey: Uint8Array): string =>
  keyIdOf(hash) === undefined ? withKeyId(hash, hashKeyId(ownKey)) : hash

const arrivingHash = (hash: string, ownKey: Uint8Array): string =>
  keyIdOf(hash) === hashKeyId(ownKey) ? withoutKeyId(hash) : hash

function openedHere(
  stored: string,
  { sealer, siteKey, context }: RowSeals & { readonly context: string },
): Buffer {
  return sealer.open(siteKey, context, Buffer.from(stored.slice('\\x'.length), 'hex'))
}

function rowIn(line: string): Readonly<Record<string, unknown>> {
  const row: unknown = JSON.parse(line)
  if (isJsonObject(row)) return row
  throw invalidArchive('one of its rows is not an object')
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw invalidArchive('one of its secrets is not text')
}
