import type { ByteRange } from '#platform/objects/object-store.ts'

/**
 * RFC 9110 §14.2. Undefined where the header is to be ignored: no byte range, several ranges, or not understood;
 * `unsatisfiable` where it asks for what is behind the end.
 */
export function parseRange(
  header: string | null,
  sizeBytes: number,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const parts = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '')
  if (!parts) return undefined
  const [, first = '', last = ''] = parts
  if (first === '') return suffixRange(last, sizeBytes)
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}

function suffixRange(last: string, sizeBytes: number) {
  if (last === '') return undefined
  const length = Math.min(Number(last), sizeBytes)
  return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
}
