import { Buffer } from 'node:buffer'

const MAX_BYTES = 255
const MAX_EXTENSION = 20
/** Control characters, what Windows refuses, separators of paths, and what turns the direction of writing or has no width. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"/\\|?*]/gu
/** Devices of Windows, whatever stands behind the point. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
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
      .replaceAll(/^[\s.]+|[\s.]{1,255}$/g, '')
      .normalize('NFC'),
  )
  if (cleaned === '') return `part-${place}.${EXTENSIONS[contentType] ?? 'bin'}`
  return RESERVED.test(cleaned) ? `_${cleaned}` : cleaned
}

/** The extension stays. */
function cut(name: string): string {
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
  return stem + extension
}
