import type { PageTokens } from '#base/page.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { ListAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { ListInput, listedKeys, parseInput } from './inputs.ts'
import { checkKeyPart } from './rules.ts'
import { bucketPrefix } from './store-key.ts'

export interface ListDeps {
  readonly objects: Pick<ObjectStore, 'list'>
  readonly pageTokens: PageTokens
}

export async function listObjects(
  { objects, pageTokens }: ListDeps,
  bucket: Bucket,
  input: unknown,
): Promise<ListAnswer> {
  const asked = parseInput(ListInput, input)
  const { prefix = '', delimiter = '', startAfter = '', nextToken } = asked
  for (const [field, text] of Object.entries({ prefix, delimiter, startAfter })) {
    checkKeyPart(field, text)
  }
  const scope = ['list-objects', bucket.siteId, bucket.bucketId, prefix, delimiter]
  const root = bucketPrefix(bucket)
  const page = await objects.list({
    prefix: root + prefix,
    maxKeys: listedKeys(asked),
    ...(delimiter !== '' && { delimiter }),
    ...(startAfter !== '' && { startAfter: root + startAfter }),
    ...(typeof nextToken === 'string' && { continuation: pageTokens.open(scope, nextToken) }),
  })
  return {
    items: page.objects.map(({ key, sizeBytes, lastModified, etag }) => ({
      key: key.slice(root.length),
      size: sizeBytes,
      lastModified: lastModified.toISOString(),
      etag,
    })),
    commonPrefixes: page.commonPrefixes.map((common) => common.slice(root.length)),
    isTruncated: page.continuation !== undefined,
    nextToken: pageTokens.seal(scope, page.continuation),
  }
}
