import { toStorable } from '#base/storable-text.ts'

const MAX_RESULT_BYTES = 64 * 1024
const ENVELOPE = '{"ok":true,"data":'

/** What is kept of the finished envelope of a call: the JSON text of its data, or the first 64 KiB of that. */
export function storedResult(body: string): { result: string; resultBytes: number } {
  const text = body.slice(ENVELOPE.length, -1)
  const bytes = Buffer.from(text)
  const { length: resultBytes } = bytes
  if (resultBytes <= MAX_RESULT_BYTES) return { result: toStorable(text), resultBytes }
  // A character that is cut in two is left out.
  const start = bytes
    .subarray(0, MAX_RESULT_BYTES)
    .toString()
    .replace(/\uFFFD$/, '')
  return { result: toStorable(start), resultBytes }
}

/** A kept result as the value that it is, or as text when it was cut. */
export function parseResult(run: {
  readonly result: string | null
  readonly resultBytes: number | null
}): { readonly result: unknown; readonly resultTruncated: boolean } {
  const { result, resultBytes } = run
  if (result === null) return { result: null, resultTruncated: false }
  if ((resultBytes ?? 0) > MAX_RESULT_BYTES) return { result, resultTruncated: true }
  return { result: JSON.parse(result), resultTruncated: false }
}
