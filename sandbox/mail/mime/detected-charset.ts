import chardet from 'chardet'

/** So much of a text is looked at, from its first byte beyond ASCII on: within about a millisecond. */
const SAMPLE_BYTES = 1024
/** Of fewer bytes beyond ASCII nothing can be said. */
const MIN_BYTES = 5
/** Below, a guess is as likely wrong. */
const MIN_CONFIDENCE = 30
/** Where most letters are ASCII, the charsets of Western Europe need more against them. */
const SURE = 50
const SEVERAL_BYTES = new Set(['Shift_JIS', 'EUC-JP', 'EUC-KR', 'GB18030', 'Big5'])
const WESTERN = new Set(['ISO-8859-1', 'windows-1252'])

/** The charset that the statistics of a text point to; undefined where they point to none, or to Western Europe. */
export function detectedCharset(bytes: Uint8Array): string | undefined {
  const sample = sampleOf(bytes)
  const beyond = sample.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0)
  if (beyond < MIN_BYTES) return undefined
  const found = chardet
    .analyse(sample)
    .filter(({ name }) => !name.startsWith('UTF') && name !== 'ASCII')
  const [best] = found
  if (!best || WESTERN.has(best.name)) return undefined
  const western = found.find(({ name }) => WESTERN.has(name))?.confidence ?? 0
  const isLatin = beyond * 4 < sample.length && !SEVERAL_BYTES.has(best.name)
  const needed = isLatin ? Math.min(SURE, western + 1) : 0
  return best.confidence >= Math.max(MIN_CONFIDENCE, needed) ? best.name : undefined
}

function sampleOf(bytes: Uint8Array): Uint8Array {
  let first = 0
  while (first < bytes.length && (bytes[first] ?? 0) <= 0x7f) first += 1
  return bytes.subarray(Math.max(0, first - 64), first + SAMPLE_BYTES)
}
