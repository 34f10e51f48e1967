import { createHmac, timingSafeEqual } from 'node:crypto'

import type { Clock } from '#base/clock.ts'

/** What a signed URL allows, and nothing beside it. */
export interface UrlGrant {
  readonly method: 'GET' | 'PUT'
  readonly key: string
  /** Whole seconds. */
  readonly expiresAt: Date
  /** PUT: what the request must say, and how many bytes it must carry. */
  readonly contentType?: string
  readonly sizeBytes?: number
  /** GET: the name under which a browser saves it. */
  readonly downloadName?: string
}

export type OpenedUrl =
  | { readonly grant: UrlGrant }
  | { readonly refused: 'expired' | 'forged' | 'otherSite' | 'otherMethod' }

/** Signs and checks `/objects/{key}?…`: HMAC-SHA-256 over all that the URL grants. */
export class ObjectUrls {
  readonly #secret: Buffer
  readonly #clock: Clock

  constructor(secret: Buffer, clock: Clock) {
    this.#secret = secret
    this.#clock = clock
  }

  /** The path with its query, and the headers that the request must send. */
  sign(grant: UrlGrant): { readonly path: string; readonly headers: Record<string, string> } {
    const query = new URLSearchParams({
      method: grant.method,
      expires: String(grant.expiresAt.getTime() / 1000),
    })
    const headers: Record<string, string> = {}
    if (grant.contentType !== undefined) {
      query.set('type', grant.contentType)
      headers['content-type'] = grant.contentType
    }
    if (grant.sizeBytes !== undefined) {
      query.set('size', String(grant.sizeBytes))
      headers['content-length'] = String(grant.sizeBytes)
    }
    if (grant.downloadName !== undefined) query.set('name', grant.downloadName)
    query.set('signature', this.#signature(grant).toString('base64url'))
    // In base64url, because URL parsers take dots and doubled slashes out of a path.
    const path = Buffer.from(grant.key).toString('base64url')
    return { path: `/objects/${path}?${query.toString()}`, headers }
  }

  /** `siteId` is the site of the host that was asked; `method` may be HEAD for what GET is granted. */
  open(
    asked: { readonly encodedKey: string; readonly method: string; readonly siteId: string },
    query: URLSearchParams,
  ): OpenedUrl {
    const key = decodedKey(asked.encodedKey)
    const grant = key === undefined ? undefined : grantOf(key, query)
    if (!grant) return { refused: 'forged' }
    const given = Buffer.from(query.get('signature') ?? '', 'base64url')
    const right = this.#signature(grant)
    if (given.length !== right.length || !timingSafeEqual(given, right))
      return { refused: 'forged' }
    if (grant.expiresAt <= this.#clock.now()) return { refused: 'expired' }
    if (!grant.key.startsWith(`sites/${asked.siteId}/`)) return { refused: 'otherSite' }
    const wanted = asked.method === 'HEAD' ? 'GET' : asked.method
    return wanted === grant.method ? { grant } : { refused: 'otherMethod' }
  }

  #signature(grant: UrlGrant): Buffer {
    const words = [
      grant.method,
      grant.key,
      grant.expiresAt.getTime() / 1000,
      grant.contentType ?? null,
      grant.sizeBytes ?? null,
      grant.downloadName ?? null,
    ]
    return createHmac('sha256', this.#secret).update(JSON.stringify(words)).digest()
  }
}

/** What the URL claims; only the signature makes it true. */
function grantOf(key: string, query: URLSearchParams): UrlGrant | undefined {
  const [method, expires, size] = [query.get('method'), query.get('expires'), query.get('size')]
  const [contentType, downloadName] = [query.get('type'), query.get('name')]
  if (method !== 'GET' && method !== 'PUT') return undefined
  if (!/^\d{1,12}$/.test(expires ?? '') || !/^\d{0,15}$/.test(size ?? '')) return undefined
  return {
    method,
    key,
    expiresAt: new Date(Number(expires) * 1000),
    ...(contentType === null ? {} : { contentType }),
    ...(size === null ? {} : { sizeBytes: Number(size) }),
    ...(downloadName === null ? {} : { downloadName }),
  }
}

/** One URL for one key: a decoder passes over what an encoder would not have written. */
function decodedKey(encodedKey: string): string | undefined {
  const key = Buffer.from(encodedKey, 'base64url').toString()
  return Buffer.from(key).toString('base64url') === encodedKey ? key : undefined
}
