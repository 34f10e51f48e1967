import { AppError } from '#base/app-error.ts'

const CODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const

export type ContentCoding = (typeof CODINGS)[number]

const BY_NAME: ReadonlyMap<string, ContentCoding | undefined> = new Map<
  string,
  ContentCoding | undefined
>([
  ...CODINGS.map((coding) => [coding, coding] as const),
  // RFC 9110, section 8.4.1.3.
  ['x-gzip', 'gzip'],
  ['identity', undefined],
])

/** How a body is compressed; undefined for one that is not. Throws (415) for a coding that is not known, and for several. */
export function contentCodingOf({ headers }: Request): ContentCoding | undefined {
  const header = headers.get('content-encoding')
  if (header === null) return undefined
  const name = header.trim().toLowerCase()
  if (name !== '' && !BY_NAME.has(name)) throw unsupportedCoding(CODINGS)
  return BY_NAME.get(name)
}

/** Throws (415) for a compressed body, where its bytes are kept as they come. */
export function refuseCoding({ headers }: Request): void {
  const name = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (name !== '' && name !== 'identity') throw unsupportedCoding(['identity'])
}

/** The answer names what would have been taken, in `Accept-Encoding` as well (RFC 9110, section 15.5.16). */
const unsupportedCoding = (accepted: readonly string[]): AppError => {
  const acceptEncoding = accepted.join(', ')
  return new AppError(
    'UnsupportedMediaType',
    `This path does not take a body with that "content-encoding": send it with one of ${acceptEncoding}, or as it is`,
    { fields: { acceptEncoding } },
  )
}
