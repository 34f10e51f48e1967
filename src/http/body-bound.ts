import { AppError } from '#base/app-error.ts'
import { networkOf } from '#identity/defence/network-of.ts'
import { MAX_SERVICE_PUT_BYTES } from '#platform/objects/object-rules.ts'

import type { OpenBodies } from './bodies/open-bodies.ts'
import { type Reception, receiveUpTo, receivedWith, receiving, tooLarge } from './bodies/receive.ts'
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
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

type Place = Pick<RequestScope, 'path' | 'host' | 'peerAddress'>

/**
 * Refuses a body that is too long before anything reads it. Others are read here, up to their bound and among all that are
 * being received, unless they are short. An upload is left to its route, and fails when it stalls. Synchronous where
 * there is nothing to wait for.
 */
export function boundBody(
  request: Request,
  place: Place,
  bodies: OpenBodies,
): Request | Promise<Request> {
  const declared = request.headers.get('content-length')
  const json = isJson(request)
  if (declared === '0' || (json && isShort(declared))) return receivedWith(request, bodies)
  const upload = UPLOADS.test(place.path)
  const most = longest(place.path)
  const limit = json || upload || takesOthers(place) ? most : MAX_OTHER_BYTES
  if (declared !== null) boundLength(declared, most, limit)
  if (request.body === null) return request
  const source = { network: networkOf(place.peerAddress), host: place.host }
  return upload
    ? withBody(request, receiving(request.body, { bodies, source }))
    : received(request, request.body, { limit, reception: { bodies, source } })
}

/** What is much too long is that, whatever it is; what is too long for no JSON may have been meant as such. */
function boundLength(declared: string, most: number, limit: number): void {
  if (!/^\d+$/.test(declared) || Number(declared) > most) throw tooLarge(most)
  if (Number(declared) > limit) throw notJson()
}

const takesOthers = ({ path }: Place): boolean => TAKES_OTHERS.test(path)

const isJson = ({ headers }: Request): boolean => JSON_TYPE.test(headers.get('content-type') ?? '')

/** Fewer than six digits say so without being read. */
const isShort = (declared: string | null): boolean =>
  declared !== null && /^\d{1,5}$/.test(declared) && Number(declared) <= MAX_SHORT_BYTES

function longest(path: string): number {
  if (UPLOADS.test(path)) return MAX_UPLOAD_BYTES
  if (!TAKES_LONG.test(path)) return MAX_SHORT_JSON_BYTES
  if (RESOURCE.test(path)) return MAX_RESOURCE_BYTES
  return PUT_OBJECT.test(path) ? MAX_OBJECT_JSON_BYTES : MAX_JSON_BYTES
}

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

/** A whole body, unless it is longer than that many bytes: 413, and the rest is not read. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

const notJson = (): AppError =>
  new AppError('UnsupportedMediaType', 'Send the body as "content-type: application/json"')
