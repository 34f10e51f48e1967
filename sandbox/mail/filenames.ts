import { Buffer } from 'node:buffer'

const MAX_BYTES = 255
const MAX_EXTENSION = 20
/** Control characters, what Windows refuses, separators of paths, and what turns the direction of writing or has no width. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"/\\|?*]/gu
/** Combining marks beyond what UAX #15 allows in a row: a longer run takes quadratic time to normalize. */
const MARKS = /(\p{M}{30})\p{M}+/gu
/** Devices of Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
const BLANK_OR_DOT = /[\s.]/
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/ms-tnef': 'dat',
  'application/pdf': 'pdf',
  'application/pgp-encrypted': 'asc',
  'application/pgp-signature': 'asc',
  'application/pkcs7-mime': 'p7m',
  'application/pkcs7-signature': 'p7s',
  'application/zip': 'zip',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'message/delivery-status': 'txt',
  'message/rfc822': 'eml',
  'text/calendar': 'ics',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/rfc822-headers': 'txt',
}

/** A name that can be given to a file anywhere, whatever the sender wrote; made of the place and the type when there is none. */
export function safeFilename(name: string | null, contentType: string, place: number): string {
  const cleaned = cut(
    (name ?? '')
      .toWellFormed()
      .replaceAll(UNSAFE, '_')
      .replace(/^[\s.]+/, '')
      .replaceAll(MARKS, '$1')
      .normalize('NFC'),
  )
  if (cleaned === '') return `part-${place}.${EXTENSIONS[contentType] ?? 'bin'}`
  return RESERVED.test(cleaned) ? `_${cleaned}` : cleaned
}

/** Without blanks and dots at its end. The extension stays. */
function cut(whole: string): string {
  const name = trimEnd(whole)
  if (Buffer.byteLength(name) < MAX_BYTES) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= MAX_EXTENSION ? name.slice(dot) : ''
  const room = MAX_BYTES - 1 - Buffer.byteLength(extension)
  let stem = ''
  let used = 0
  for (const letter of name.slice(0, MAX_BYTES)) {
    used += Buffer.byteLength(letter)
    if (used > room) break
    stem += letter
  }
  return extension === '' ? trimEnd(stem) : stem + extension
}

/** By hand: a pattern would look through a long run from each of its characters. */
function trimEnd(name: string): string {
  let end = name.length
  while (end > 0 && BLANK_OR_DOT.test(name[end - 1] ?? '')) end -= 1
  return name.slice(0, end)
}
