import { domainToASCII } from 'node:url'

/** RFC 1035 §2.3.4, in octets as they are sent. */
const MAX_LABEL_BYTES = 63
const MAX_NAME_BYTES = 255
/** Two bits before the offset of a compressed name. */
const POINTER = 0xc0
/** Hyphens and underscores where people write them; no blank, control character or dot in a label. */
const LABEL = /^[\x21-\x2d\x2f-\x5b\x5d-\x7e]+$/

/** In lower case and ASCII, without the dot of the root; undefined for a text that cannot be a name in DNS. */
export function canonicalName(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- whatever is not ASCII
  const ascii = /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : domainToASCII(text)
  const name = ascii.replace(/\.$/, '')
  const labels = name.split('.')
  const isName =
    name.length <= MAX_NAME_BYTES - 2 &&
    labels.every((label) => label.length <= MAX_LABEL_BYTES && LABEL.test(label))
  return isName ? name : undefined
}

/** Of a canonical name, with letters in any case. */
export function encodeName(name: string): Buffer {
  const parts = name.split('.').flatMap((label) => {
    const bytes = Buffer.from(label, 'latin1')
    return [Buffer.from([bytes.length]), bytes]
  })
  return Buffer.concat([...parts, Buffer.alloc(1)])
}

/**
 * The name at that offset, in lower case, and the offset behind it. Dots and backslashes inside of a label are escaped (RFC
 * 1035 §5.1). Throws a RangeError for a name that is broken: each pointer must lead further back (RFC 1035 §4.1.4), so that
 * none is followed twice.
 */
export function decodeName(message: Buffer, offset: number): { name: string; end: number } {
  const labels: string[] = []
  let [at, bytes, earliest] = [offset, 1, offset]
  let end: number | undefined
  for (;;) {
    const length = message.readUInt8(at)
    if (length === 0) return { name: labels.join('.'), end: end ?? at + 1 }
    if (length >= POINTER) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
      if (at >= earliest) throw new RangeError('A name points forward')
      earliest = at
      continue
    }
    bytes += length + 1
    if (length > MAX_LABEL_BYTES || bytes > MAX_NAME_BYTES) throw new RangeError('A name too long')
    if (at + 1 + length > message.length) throw new RangeError('A name ends early')
    labels.push(escaped(message.toString('latin1', at + 1, at + 1 + length)))
    at += length + 1
  }
}

const escaped = (label: string): string => label.toLowerCase().replaceAll(/[.\\]/g, '\\$&')
