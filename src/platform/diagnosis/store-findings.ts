import { randomBytes, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'

import { allowsPagesOf, bucketCors } from '#platform/objects/bucket-cors.ts'
import { type ObjectStore, sitePrefix } from '#platform/objects/object-store.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'

import { type Finding, Findings, millisecondsSince, reasonOf } from './finding.ts'

/** No site's id: what a check leaves when it is cut off is in no site's way. */
const NO_SITE = 'diagnosis'
const BYTES = 1024
const NAMED_ORIGINS = 5

type TriedStore = Pick<ObjectStore, 'put' | 'get' | 'delete'>

/** Writes an object, reads it, and deletes it. */
export async function examineObjects(
  store: TriedStore,
  where: string,
): Promise<readonly Finding[]> {
  const findings = new Findings('objects')
  const key = sitePrefix(NO_SITE) + randomUUID()
  const body = randomBytes(BYTES)
  const beganMs = performance.now()
  try {
    await store.put(key, body)
    const stored = await store.get(key)
    const read = stored === undefined ? undefined : await buffer(stored.body)
    await store.delete(key)
    if (read?.equals(body) === true) {
      return findings.ok(
        `${where} wrote, read and deleted an object in ${millisecondsSince(beganMs)}`,
      ).all
    }
    const what = read === undefined ? 'nothing' : 'other bytes'
    return findings.problem(
      `${where} gives back ${what} after a write`,
      'It must be strongly consistent: check the proxies and caches between it and the service',
    ).all
  } catch (error) {
    return findings.problem(
      `${where} does not take, give and delete an object: ${reasonOf(error)}`,
      'See whether it answers, and whether its keys may put, get and delete',
    ).all
  }
}

/** Asks the bucket, as a browser does, whether pages of the sites may use its presigned URLs. */
export async function examineBucketCors(
  store: Pick<ObjectStore, 'presignPut'>,
  bucket: string,
  origins: readonly string[],
): Promise<readonly Finding[]> {
  const findings = new Findings('bucket CORS')
  const { url } = await store.presignPut(sitePrefix(NO_SITE) + randomUUID(), {
    expiresInSeconds: 60,
    contentType: 'text/plain',
    sizeBytes: 1,
  })
  try {
    const refused: string[] = []
    for (const origin of origins) if (!(await allowsPagesOf(origin, url))) refused.push(origin)
    if (refused.length === 0) {
      return findings.ok(`pages of ${counted(origins.length)} may use presigned URLs`).all
    }
    // Any origin, as at the service's own signed URLs: the signature is the authority.
    const cors = JSON.stringify(bucketCors(['*']))
    const named = refused.slice(0, NAMED_ORIGINS).join(', ')
    const more = refused.length > NAMED_ORIGINS ? ` and ${refused.length - NAMED_ORIGINS} more` : ''
    return findings.warning(
      `pages of ${named}${more} cannot use presigned URLs of the bucket "${bucket}"`,
      `aws s3api put-bucket-cors --bucket ${bucket} --cors-configuration '${cors}'`,
    ).all
  } catch (error) {
    return findings.warning(
      `could not be asked for: ${reasonOf(error)}`,
      'See whether this machine reaches the bucket at the address in S3_ENDPOINT',
    ).all
  }
}

const counted = (origins: number): string => (origins === 1 ? 'one origin' : `${origins} origins`)

export interface Sharing {
  /** Undefined when it is not known. */
  readonly replicas: number | undefined
  readonly objectsInFiles: boolean
}

/** What replicas share beside the database. */
export async function examineSharing(
  cache: Pick<SharedCache, 'ping'>,
  { replicas = 1, objectsInFiles }: Sharing,
): Promise<readonly Finding[]> {
  const findings = new Findings('redis')
  const beganMs = performance.now()
  const answer = await cache.ping()
  if (answer === 'ok') findings.ok(`answers in ${millisecondsSince(beganMs)}`)
  else if (answer === 'down') {
    findings.warning(
      'does not answer',
      'Nothing fails without it: each replica caches and counts alone until it is back',
    )
  } else if (replicas > 1) {
    findings.warning(
      `${replicas} replicas run, and none is configured`,
      'Set REDIS_URL: each replica caches alone, and its rate limits count alone',
    )
  } else findings.ok('none is configured, and one replica needs none')
  const shared = new Findings('replicas')
  if (replicas > 1 && objectsInFiles) {
    shared.warning(
      `${replicas} replicas run, and objects are files in the data folder of each`,
      'Set S3_BUCKET, or give all of them one data folder on a shared file system',
    )
  } else shared.ok(replicas === 1 ? 'one runs' : `${replicas} run`)
  return [...findings.all, ...shared.all]
}
