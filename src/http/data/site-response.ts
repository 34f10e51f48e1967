import type { OperationResponse } from '#runtime/calls/http/operation-exchange.ts'

/** Statuses that have no body (RFC 9110, section 6.4.1). */
const NO_BODY = new Set([204, 205, 304])

/** What a function answered, as it goes out. Where it has no caching headers, it is not cached. */
export function siteResponse({ head, body }: OperationResponse, method: string): Response {
  const headers = new Headers()
  for (const [name, value] of head.headers) headers.append(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  const isEmpty = method === 'HEAD' || NO_BODY.has(head.status)
  if (method === 'HEAD') setLength(headers, { head, body })
  if (isEmpty && body instanceof ReadableStream) void body.cancel().catch(() => {})
  const { status, statusText } = head
  return new Response(isEmpty ? null : body, { status, statusText, headers })
}

/** An answer to HEAD says how long the body would be, where that is known. */
function setLength(headers: Headers, { head, body }: OperationResponse): void {
  const length = body instanceof Uint8Array ? String(body.byteLength) : head.contentLength
  if (length !== undefined) headers.set('content-length', length)
}
