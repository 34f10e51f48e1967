/** One range of bytes, as a request names it: from a first byte on, or the last so many. */
export type RequestedRange =
  | { readonly start: number; readonly end?: number }
  | { readonly suffix: number }

/**
 * What a `Range` header asks for (RFC 9110 §14.2); undefined where it is no byte range, or several. By hand, because
 * `range-parser` calls a suffix that is longer than the object unsatisfiable, and a range that ends before it starts.
 */
export function parseRangeHeader(header: string): RequestedRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? []
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  return { start: Number(first), ...(last !== '' && { end: Number(last) }) }
}

export const isBackwards = (range: RequestedRange): boolean =>
  'start' in range && range.end !== undefined && range.end < range.start

/** The bytes of an object of that size that are meant; undefined where there are none. */
export function bytesInRange(
  range: RequestedRange,
  sizeBytes: number,
): { readonly start: number; readonly end: number } | undefined {
  const start = 'suffix' in range ? Math.max(0, sizeBytes - range.suffix) : range.start
  const end = 'suffix' in range ? sizeBytes - 1 : (range.end ?? sizeBytes - 1)
  return start >= sizeBytes ? undefined : { start, end: Math.min(end, sizeBytes - 1) }
}
