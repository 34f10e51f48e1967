import { createHmac, timingSafeEqual } from 'node:crypto'

import type { Clock } from '#base/clock.ts'

import type { PresignedRequest } from './object-store.ts'

/** What a signed URL allows, and nothing beside it. */
export interface UrlGrant {
  readonly method: 'GET' | 'PUT'
  readonly key: string
  /** Whole seconds. */
  readonly expiresAt: Date
  /** PUT: what the request must say, if anything, and how many bytes it must carry. */
  readonly contentType?: string
  readonly sizeBytes?: number
  /** PUT, without a size: how many it may carry, and whose open uploads it is counted among. */
  readonly maxBytes?: number
  readonly holder?: string
  /** GET: the name under which a browser saves it. */
  readonly downloadName?: string
}

export type OpenedUrl =
  | { readonly grant: UrlGrant }
  | { readonly refused: 'expired' | 'forged' | 'otherSite' | 'otherMethod' }

export interface ObjectUrlsDeps {
  /** `Sealer.derive('object-urls')`. */
  readonly key: Buffer
  /** Where the site of a key is reached, without a trailing slash; `/objects/…` is served there. */
  readonly baseUrlOf: (siteId: string) => Promise<string> | string
  readonly clock: Clock
}

/** Signs and checks the URLs that lead to the service itself, `/objects/{key}?…`: HMAC-SHA-256 over all that they grant. */
export class ObjectUrls {
  readonly #key: Buffer
  readonly #baseUrlOf: ObjectUrlsDeps['baseUrlOf']
  readonly #clock: Clock

  constructor(deps: ObjectUrlsDeps) {
    this.#key = deps.key
    this.#baseUrlOf = deps.baseUrlOf
    this.#clock = deps.clock
  }

  async sign(grant: UrlGrant): Promise<PresignedRequest> {
    const { path, headers } = this.#signed(grant)
    const baseUrl = await this.#baseUrlOf(siteOfKey(grant.key))
    return { method: grant.method, url: baseUrl + path, headers, expiresAt: grant.expiresAt }
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

  /** The path with its query, and the headers that the request must send and a page may set: a client sends the length by itself. */
  #signed(grant: UrlGrant): { readonly path: string; readonly headers: Record<string, string> } {
    const { contentType, sizeBytes, maxBytes, holder, downloadName } = grant
    const query = new URLSearchParams({
      method: grant.method,
      expires: String(grant.expiresAt.getTime() / 1000),
    })
    const headers: Record<string, string> = {}
    if (contentType !== undefined) {
      query.set('type', contentType)
      headers['Content-Type'] = contentType
    }
    if (sizeBytes !== undefined) query.set('size', String(sizeBytes))
    if (maxBytes !== undefined) query.set('max', String(maxBytes))
    if (holder !== undefined) query.set('for', holder)
    if (downloadName !== undefined) query.set('name', downloadName)
    query.set('signature', this.#signature(grant).toString('base64url'))
    // In base64url, because URL parsers take dots and doubled slashes out of a path.
    const path = Buffer.from(grant.key).toString('base64url')
    return { path: `/objects/${path}?${query.toString()}`, headers }
  }

  #signature(grant: UrlGrant): Buffer {
    const words = [
      grant.method,
      grant.key,
      grant.expiresAt.getTime() / 1000,
      grant.contentType ?? null,
      grant.sizeBytes ?? null,
      grant.downloadName ?? null,
      ...openTerms(grant),
    ]
    return createHmac('sha256', this.#key).update(JSON.stringify(words)).digest()
  }
}

/** Adds to the signature what a URL without a length claims; URLs with a length are signed as they always were. */
const openTerms = ({ maxBytes, holder }: UrlGrant): unknown[] =>
  maxBytes === undefined && holder === undefined ? [] : [maxBytes ?? null, holder ?? null]

/** What the URL claims; only the signature makes it true. */
function grantOf(key: string, query: URLSearchParams): UrlGrant | undefined {
  const [method, expires] = [query.get('method'), query.get('expires')]
  if (method !== 'GET' && method !== 'PUT') return undefined
  if (!/^\d{1,12}$/.test(expires ?? '')) return undefined
  if (!isLength(query.get('size')) || !isLength(query.get('max'))) return undefined
  return {
    method,
    key,
    expiresAt: new Date(Number(expires) * 1000),
    ...claimed(query, 'type', (contentType) => ({ contentType })),
    ...claimed(query, 'size', (size) => ({ sizeBytes: Number(size) })),
    ...claimed(query, 'max', (most) => ({ maxBytes: Number(most) })),
    ...claimed(query, 'for', (holder) => ({ holder })),
    ...claimed(query, 'name', (downloadName) => ({ downloadName })),
  }
}

const isLength = (text: string | null): boolean => text === null || /^\d{1,15}$/.test(text)

function claimed(
  query: URLSearchParams,
  name: string,
  meaning: (value: string) => Partial<UrlGrant>,
): Partial<UrlGrant> {
  const value = query.get(name)
  return value === null ? {} : meaning(value)
}

/** The site that a key belongs to: the second segment of what `objectKey` builds. */
function siteOfKey(key: string): string {
  const siteId = /^sites\/([^/]+)\//.exec(key)?.[1]
  if (siteId === undefined) throw new Error('A key outside "sites/{siteId}/" has no site')
  return siteId
}

/** One URL for one key: a decoder accepts more than an encoder would have written. */
function decodedKey(encodedKey: string): string | undefined {
  const key = Buffer.from(encodedKey, 'base64url').toString()
  return Buffer.from(key).toString('base64url') === encodedKey ? key : undefined
}
