import { type Static, Type } from '@sinclair/typebox'

import { mapConcurrent } from '#base/map-concurrent.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import {
  OBJECT_KINDS,
  type ObjectKind,
  type ObjectStore,
  type StoredObject,
  objectKey,
} from '#platform/objects/object-store.ts'

import { type ArchivePart, checked, invalidArchive } from './archive-format.ts'
import type { ArchiveEntry } from './archive-writer.ts'

const SHORT_BYTES = 1024 * 1024
const FETCHED_AT_ONCE = 8

/** The part that has what a site stores, and what its keys look like behind their kind. */
const STORED: Readonly<Record<ObjectKind, { readonly part: ArchivePart; readonly name: RegExp }>> =
  {
    artifacts: { part: 'objects', name: /^[0-9a-f]{64}$/ },
    encoded: { part: 'objects', name: /^[0-9a-f]{64}$/ },
    // A raw message, and what was taken out of it.
    mail: { part: 'mail', name: /^[\w-]{1,80}(?:\/parts\/[\w-]{1,80})?$/ },
    git: { part: 'objects', name: /^[\w.-]{1,128}$/ },
    // The rest is the key that the site chose: to a store, dots and slashes mean nothing.
    buckets: { part: 'objects', name: /^res_[a-z0-9]{16}\/[^\0]{1,1024}$/s },
  }

/** What the bytes behind it are. */
const ArchivedObject = Type.Object({
  kind: Type.Union(OBJECT_KINDS.map((kind) => Type.Literal(kind))),
  name: Type.String({ maxLength: 2000 }),
  sizeBytes: Type.Integer({ minimum: 0 }),
  contentType: Type.String({ maxLength: 255 }),
  metadata: Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 2048 })),
})
export type ArchivedObject = Static<typeof ArchivedObject>

/** Says which of some objects are to leave, by the names that `ArchivedObject` has for them. */
export type KeptNames = (names: readonly string[]) => Promise<readonly string[]>

/** Everything that the site stores of one part: one object after the other, and no more of one than is read. */
export async function* storedObjectEntries(
  objects: Pick<ObjectStore, 'list' | 'get'>,
  siteId: string,
  { part, kept }: { readonly part: ArchivePart; readonly kept: KeptNames },
): AsyncGenerator<ArchiveEntry, number, undefined> {
  let count = 0
  for (const kind of OBJECT_KINDS) {
    if (STORED[kind].part !== part) continue
    const prefix = objectKey(siteId, kind, '')
    for await (const page of objectPages(objects, prefix)) {
      const listed = page.map(({ key, sizeBytes }) => ({
        name: key.slice(prefix.length),
        sizeBytes,
      }))
      const names = new Set(await kept(listed.map(({ name }) => name)))
      const leaving = listed.filter(({ name }) => names.has(name))
      for await (const [name, object] of openedInOrder(objects, prefix, leaving)) {
        count += 1
        yield* entriesOf(object, { kind, part, number: count, name })
      }
    }
  }
  return count
}

function* entriesOf(
  { head, body }: OpenedObject,
  { kind, part, number, name }: Pick<ArchivedObject, 'kind' | 'name'> & PartNumber,
): Generator<ArchiveEntry, void, undefined> {
  const { sizeBytes, contentType, metadata } = head
  const facts: ArchivedObject = { kind, name, sizeBytes, contentType, metadata: { ...metadata } }
  const description = Buffer.from(`${JSON.stringify(facts)}\n`)
  const described = { name: { part, number, kind: 'object' as const } }
  yield { ...described, sizeBytes: description.byteLength, body: [description] }
  yield { name: { part, number, kind: 'bytes' }, sizeBytes, body }
}

interface PartNumber {
  readonly part: ArchivePart
  readonly number: number
}

interface ListedObject {
  readonly name: string
  readonly sizeBytes: number
}

interface OpenedObject extends Pick<StoredObject, 'head'> {
  readonly body: ArchiveEntry['body']
}

/** Those that are still there. Short ones are fetched several at once: a store far away answers each after a while. */
async function* openedInOrder(
  objects: Pick<ObjectStore, 'get'>,
  prefix: string,
  listed: readonly ListedObject[],
): AsyncGenerator<readonly [string, OpenedObject], void, undefined> {
  const fetched = mapConcurrent(listed, FETCHED_AT_ONCE, async ({ name, sizeBytes }) => {
    const isLong = sizeBytes > SHORT_BYTES
    return { name, isLong, short: isLong ? undefined : await fetchShort(objects, prefix + name) }
  })
  for await (const { name, isLong, short } of fetched) {
    const object = isLong ? await objects.get(prefix + name) : short
    if (object !== undefined) yield [name, object]
  }
}

async function fetchShort(
  objects: Pick<ObjectStore, 'get'>,
  key: string,
): Promise<OpenedObject | undefined> {
  const object = await objects.get(key)
  // It may have become longer since it was listed.
  if (object === undefined || object.head.sizeBytes > SHORT_BYTES) return object
  return { head: object.head, body: await Array.fromAsync(object.body) }
}

/** Refuses an object that no site stores: its key is made of what is known of each kind. */
export function readArchivedObject(part: ArchivePart, name: string, value: unknown) {
  const object = checked(ArchivedObject, name, value)
  const stored = STORED[object.kind]
  if (stored.part !== part || !stored.name.test(object.name)) {
    throw invalidArchive(`"${name}" describes an object that no site stores`)
  }
  return object
}

export const keyOfArchived = (siteId: string, { kind, name }: ArchivedObject): string =>
  objectKey(siteId, kind, name)

/** The raw message that an object has the bytes of. */
export const rawIdOf = ({ kind, name }: Pick<ArchivedObject, 'kind' | 'name'>) =>
  kind === 'mail' && !name.includes('/') ? name : undefined

/** The bucket and the key of an object that is in one. */
export function bucketObjectOf({ kind, name, sizeBytes }: ArchivedObject) {
  if (kind !== 'buckets') return undefined
  const slash = name.indexOf('/')
  return { bucketId: name.slice(0, slash), key: name.slice(slash + 1), sizeBytes }
}
