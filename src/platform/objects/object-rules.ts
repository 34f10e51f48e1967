import { AppError, invalid } from '#base/app-error.ts'

import type { ListOptions, PutOptions } from './object-store.ts'

/** What one signed URL that leads to the service takes. */
export const MAX_SERVICE_PUT_BYTES = 512 * 1024 * 1024
const MAX_METADATA_BYTES = 2048
const MAX_LIST_KEYS = 1000

export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

/** The rules of S3, so that what one store takes the other takes too. */
export function checkObjectKey(key: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(key)
  if (bytes === 0 || bytes > maxBytes) {
    throw invalid('key', `must be 1 to ${maxBytes} bytes of UTF-8, not ${bytes}`)
  }
  if (!key.isWellFormed() || key.includes('\0')) {
    throw invalid('key', 'must be valid Unicode without NUL')
  }
}

/** Checks the type, if there is one: a URL without it takes any type. */
export const checkedType = (options: {
  readonly contentType?: string
}): { readonly contentType?: string } =>
  options.contentType === undefined ? {} : { contentType: checkedOptions(options).contentType }

/** Checks type and metadata. Names of metadata come back in lower case, as both stores keep them. */
export function checkedOptions(options: PutOptions): {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
} {
  const contentType = options.contentType ?? DEFAULT_CONTENT_TYPE
  if (!/^[\x20-\x7e]{1,255}$/.test(contentType)) {
    throw invalid('contentType', 'must be printable ASCII of at most 255 characters')
  }
  const entries = Object.entries(options.metadata ?? {})
  let size = 0
  for (const [name, value] of entries) {
    if (!/^[\w-]+$/.test(name)) throw invalid('metadata', `the name "${name}" is not a header name`)
    if (!/^[\x20-\x7e]*$/.test(value) || value.trim() !== value) {
      throw invalid(
        'metadata',
        `the value of "${name}" must be printable ASCII, without outer spaces`,
      )
    }
    size += name.length + value.length
  }
  if (size > MAX_METADATA_BYTES) {
    throw invalid('metadata', `must be at most ${MAX_METADATA_BYTES} bytes together, not ${size}`)
  }
  const metadata = Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), value] as const),
  )
  return { contentType, metadata }
}

export const tooLong = (maxBytes: number): AppError =>
  new AppError('PayloadTooLarge', `The object is longer than ${maxBytes} bytes`, {
    fields: { limitBytes: maxBytes },
  })

export const listLimit = ({ maxKeys }: Pick<ListOptions, 'maxKeys'>): number =>
  Math.min(Math.max(1, Math.trunc(maxKeys)), MAX_LIST_KEYS)

export function urlExpiry(now: Date, expiresInSeconds: number): Date {
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > 604_800) {
    throw invalid('expiresInSeconds', 'must be a whole number from 1 to 604800')
  }
  return new Date((Math.floor(now.getTime() / 1000) + expiresInSeconds) * 1000)
}

/** RFC 6266, with the name as UTF-8 and an ASCII stand-in for old clients. */
export function attachment(downloadName: string): string {
  const ascii = downloadName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(downloadName.toWellFormed()).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
