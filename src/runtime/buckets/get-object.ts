import { notFound } from '#base/app-error.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import type { ByteRange, ObjectStore, StoredObject } from '#platform/objects/object-store.ts'

import type { BucketAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { parseByteRange, unsatisfiable, withinSize } from './byte-range.ts'
import { GetInput, MAX_BODY_BYTES, parseInput } from './inputs.ts'
import { objectTooLarge, checkBucketKey, encodedBody } from './rules.ts'
import { storeKeyOf } from './store-key.ts'

type Objects = Pick<ObjectStore, 'get' | 'head' | 'bounds'>

export async function getObject(
  objects: Objects,
  bucket: Bucket,
  input: unknown,
): Promise<BucketAnswer<'get-object'>> {
  const { key, encoding, range } = parseInput(GetInput, input)
  checkBucketKey(bucket, key, objects.bounds.keyBytes)
  const storeKey = storeKeyOf({ ...bucket, key })
  const { found, part } =
    range === undefined
      ? { found: await objects.get(storeKey), part: undefined }
      : await getRange(objects, storeKey, parseByteRange(range))
  if (!found) throw notFound('Object', key)
  const { head } = found
  const bytes = await readBody(found, part)
  return {
    key,
    ...encodedBody(bytes, head.contentType, encoding),
    contentType: head.contentType,
    size: head.sizeBytes,
    etag: head.etag,
    lastModified: head.lastModified.toISOString(),
    metadata: { ...head.metadata },
    ...(part && { contentRange: `bytes ${part.start}-${part.end}/${head.sizeBytes}` }),
  }
}

async function getRange(
  objects: Objects,
  storeKey: string,
  range: ReturnType<typeof parseByteRange>,
) {
  const head = await objects.head(storeKey)
  if (!head) return { found: undefined, part: undefined }
  const part = withinSize(range, head.sizeBytes)
  try {
    const found = await objects.get(storeKey, part)
    // The object may have been replaced since its head was read.
    return { found, part: found && withinSize(range, found.head.sizeBytes) }
  } catch (error) {
    if (error instanceof ObjectFault) throw unsatisfiable(head.sizeBytes)
    throw error
  }
}

async function readBody(
  { head, body }: StoredObject,
  part: Required<ByteRange> | undefined,
): Promise<Uint8Array> {
  const sizeBytes = part ? part.end - part.start + 1 : head.sizeBytes
  if (sizeBytes > MAX_BODY_BYTES) {
    await body.cancel()
    throw objectTooLarge(
      sizeBytes,
      'get it through a URL of presign-get-object, or ask for a range',
    )
  }
  return new Uint8Array(await new Response(body).arrayBuffer())
}
