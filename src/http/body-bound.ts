import { networkOf } from '#base/network-of.ts'
import { MAX_SERVICE_PUT_BYTES } from '#platform/objects/object-rules.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'

import { type Reception, receiveUpTo, receivedWith, receiving } from './bodies/receive.ts'
import type { RequestBodyBudgets } from './bodies/request-body-budgets.ts'
import { isJsonType, notJson } from './json-type.ts'
import type { RequestScope } from './request-scope.ts'

/** Payload of an operation (6 MiB) and its envelope. */
export const MAX_JSON_BYTES = 6 * 1024 * 1024 + 64 * 1024
/** One file of an artifact, or one stored object through a signed URL. */
export const MAX_UPLOAD_BYTES = MAX_SERVICE_PUT_BYTES
/** An object of 6 MiB as base64, and its envelope. */
const MAX_OBJECT_JSON_BYTES = 8 * 1024 * 1024 + 64 * 1024

/** Of what is no JSON, where JSON is wanted. */
const MAX_OTHER_BYTES = 64 * 1024
/** Inline code of 1 MiB, however it is escaped within reason. */
const MAX_RESOURCE_BYTES = 4 * 1024 * 1024
/** Of routes that take a few fields. */
const MAX_SHORT_JSON_BYTES = 256 * 1024
/** Such a body is left to the runtime: what it holds until its end is no more than this. */
const MAX_SHORT_BYTES = 16 * 1024

const PUT_OBJECT = /^\/admin\/data\/resources\/[^/]+\/data\/s3\/put-object$/
const RESOURCE = /^\/admin\/data\/resources(?:\/[^/]+)?$/
/** Operations, the data runtime's admins, and operators. */
const TAKES_LONG = /^\/(?:data\/(?!auth\/)|admin\/data\/|portal\/)/
const UPLOADS = /^\/(?:objects\/|portal\/api\/sites\/[^/]+\/deployments\/[^/]+\/files\/)/
/** Forms, and what programs written for Cognito send: their routes refuse what is too long in their own words. */
const TAKES_OTHERS = /^\/(?:oidc|admin\/public\/onboarding)\//

type Place = Pick<RequestScope, 'path' | 'host' | 'peerAddress'>

/**
 * Refuses a body that is too long before anything reads it. Others are read here, up to their bound and among all that are
 * being received, unless they are short. An upload is left to its route, and fails when it stalls. Synchronous where
 * there is nothing to wait for.
 */
export function boundBody(
  request: Request,
  place: Place,
  bodies: RequestBodyBudgets,
): Request | Promise<Request> {
  const declared = request.headers.get('content-length')
  const json = isJsonType(request.headers.get('content-type') ?? '')
  if (declared === '0' || (json && isShort(declared))) return receivedWith(request, bodies)
  const bounds = boundsOf(place.path, json)
  if (declared !== null) boundLength(declared, bounds)
  if (request.body === null) return request
  const source = { network: networkOf(place.peerAddress), host: place.host }
  return bounds.isUpload
    ? withBody(request, receiving(request.body, { bodies, source }))
    : received(request, request.body, { limit: bounds.limit, reception: { bodies, source } })
}

/** In bytes. */
interface Bounds {
  readonly limit: number
  /** Of what is no JSON, beyond `limit`: it may have been meant as JSON. More is too much, whatever it is. */
  readonly most: number
  readonly isUpload: boolean
}

function boundsOf(path: string, json: boolean): Bounds {
  if (UPLOADS.test(path)) {
    return { limit: MAX_UPLOAD_BYTES, most: MAX_UPLOAD_BYTES, isUpload: true }
  }
  const most = jsonLimit(path)
  const limit = json || TAKES_OTHERS.test(path) ? most : MAX_OTHER_BYTES
  return { limit, most, isUpload: false }
}

function jsonLimit(path: string): number {
  if (!TAKES_LONG.test(path)) return MAX_SHORT_JSON_BYTES
  if (RESOURCE.test(path)) return MAX_RESOURCE_BYTES
  return PUT_OBJECT.test(path) ? MAX_OBJECT_JSON_BYTES : MAX_JSON_BYTES
}

function boundLength(declared: string, { limit, most }: Bounds): void {
  if (!/^\d+$/.test(declared) || Number(declared) > most) throw bodyTooLarge(most)
  if (Number(declared) > limit) throw notJson()
}

/** Fewer than six digits say so without being read. */
const isShort = (declared: string | null): boolean =>
  declared !== null && /^\d{1,5}$/.test(declared) && Number(declared) <= MAX_SHORT_BYTES

async function received(
  request: Request,
  stream: ReadableStream<Uint8Array>,
  { limit, reception }: { readonly limit: number; readonly reception: Reception },
): Promise<Request> {
  return withBody(request, await receiveUpTo(stream, limit, reception))
}

function withBody(
  { url, method, headers, signal }: Request,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Request {
  // Undici wants to be told that a stream is sent before the answer comes.
  const init: RequestInit & { duplex: 'half' } = { method, headers, body, signal, duplex: 'half' }
  return new Request(url, init)
}
