import { invalid } from '#base/app-error.ts'
import type { ByteRange } from '#platform/objects/object-store.ts'

/** What a request calls a range: the object form, or the words of HTTP's `Range` header. */
export type RangeInput = string | { readonly start: number; readonly end?: number }

/** A suffix is the last so many bytes. */
export type ReadRange = ByteRange | { readonly suffix: number }

export function parseByteRange(asked: RangeInput): ReadRange {
  const range = typeof asked === 'string' ? parseHeader(asked) : asked
  if ('start' in range && range.end !== undefined && range.end < range.start) {
    throw invalid('range', 'must not end before it starts')
  }
  return range
}

/** The bytes of an object of that size that are meant. Throws where there are none. */
export function withinSize(range: ReadRange, sizeBytes: number): Required<ByteRange> {
  const start = 'suffix' in range ? Math.max(0, sizeBytes - range.suffix) : range.start
  const wanted = 'suffix' in range ? sizeBytes - 1 : (range.end ?? sizeBytes - 1)
  if (start >= sizeBytes) throw unsatisfiable(sizeBytes)
  return { start, end: Math.min(wanted, sizeBytes - 1) }
}

export const unsatisfiable = (sizeBytes: number) =>
  invalid('range', `begins behind the end of the object, which has ${sizeBytes} bytes`)

function parseHeader(header: string): ReadRange {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header)
  const [, first = '', last = ''] = parts ?? []
  if (first !== '') return { start: Number(first), ...(last !== '' && { end: Number(last) }) }
  if (last !== '') return { suffix: Number(last) }
  throw invalid(
    'range',
    'must be like "bytes=0-1023", "bytes=1024-", "bytes=-512" or { start, end }',
  )
}
