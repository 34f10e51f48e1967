import { invalid } from '#base/app-error.ts'
import {
  type RequestedRange,
  bytesInRange,
  isBackwards,
  parseRangeHeader,
} from '#base/byte-range.ts'
import type { ByteRange } from '#platform/objects/object-store.ts'

/** The range that a request names: in the object form, or in the words of HTTP's `Range` header. */
export function parseByteRange(
  input: string | { readonly start: number; readonly end?: number },
): RequestedRange {
  const range = typeof input === 'string' ? parseRangeHeader(input) : input
  if (!range) {
    throw invalid(
      'range',
      'must be like "bytes=0-1023", "bytes=1024-", "bytes=-512" or { start, end }',
    )
  }
  if (isBackwards(range)) throw invalid('range', 'must not end before it starts')
  return range
}

/** The bytes of an object of that size that are meant. Throws where there are none. */
export function withinSize(range: RequestedRange, sizeBytes: number): Required<ByteRange> {
  const bytes = bytesInRange(range, sizeBytes)
  if (!bytes) throw unsatisfiable(sizeBytes)
  return bytes
}

export const unsatisfiable = (sizeBytes: number) =>
  invalid('range', `begins behind the end of the object, which has ${sizeBytes} bytes`)
