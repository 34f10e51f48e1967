import { isDocument } from '#base/content-type.ts'
import type { Representation, PathResolution } from '#sites/static/routes.ts'
import type { StaticSite } from '#sites/static/static-site.ts'

const FOREVER = 'public, max-age=31536000, immutable'
/** Kept, and asked about each time: the next deployment must be seen. */
const REVALIDATED = 'no-cache'

export interface StaticHeaderSource {
  readonly site: StaticSite
  /** Of the installation; undefined where it is not reached by HTTPS. */
  readonly hsts: string | undefined
}

type FileResolution = Extract<PathResolution, { kind: 'file' }>

/** All headers of a response with this form of the file, except for those that differ between requests. */
export function staticHeaders(
  { site, hsts }: StaticHeaderSource,
  resolution: FileResolution,
  representation: Representation,
): Headers {
  const { file, path, status, isOwnPath } = resolution
  const headers = new Map([
    ['content-type', file.contentType],
    ['etag', representation.etag],
    ['cache-control', file.immutable && isOwnPath && status === 200 ? FOREVER : REVALIDATED],
    ['accept-ranges', 'bytes'],
    ['x-content-type-options', 'nosniff'],
  ])
  if (file.representations.length > 1) headers.set('vary', 'accept-encoding')
  if (representation.encoding !== undefined) {
    headers.set('content-encoding', representation.encoding)
  }
  if (isDocument(file.contentType)) addPageHeaders(headers)
  return finished({ site, hsts }, path, headers)
}

/** A redirect's, which `_headers` may change as well. */
export function redirectHeaders(
  source: StaticHeaderSource,
  { location, path }: Extract<PathResolution, { kind: 'redirect' }>,
): Headers {
  const headers = new Map([
    ['cache-control', REVALIDATED],
    ['x-content-type-options', 'nosniff'],
  ])
  const finishedHeaders = finished(source, path, headers)
  finishedHeaders.set('location', location)
  return finishedHeaders
}

/** Where the installation is not reached by HTTPS, no site may demand it. */
function finished(
  { site, hsts }: StaticHeaderSource,
  path: string,
  headers: Map<string, string>,
): Headers {
  if (hsts !== undefined) headers.set('strict-transport-security', hsts)
  site.headerRules.apply(path, headers)
  if (hsts === undefined) headers.delete('strict-transport-security')
  return new Headers([...headers])
}

/** No other site may put the page into a frame, or learn the path of a referrer. */
function addPageHeaders(headers: Map<string, string>): void {
  headers.set('referrer-policy', 'strict-origin-when-cross-origin')
  headers.set('x-frame-options', 'SAMEORIGIN')
  headers.set('content-security-policy', "frame-ancestors 'self'")
}
