import { asciiDomain } from '#base/domain-name.ts'

/** RFC 5322 §3.2.3 without quoting, RFC 6531 beyond ASCII: nothing that could end an address or begin another. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~.\-\u{a1}-\u{10ffff}]+$/u
/** RFC 5321 §4.5.3.1.1. */
const MAX_LOCAL_PART = 64
const BLANK = /[\p{C}\p{Z}]/u

/** RFC 5321 §4.5.3.1.3, without the brackets. */
const MAX_PATH_OCTETS = 254

/** The address as an envelope carries it, its domain in ASCII; undefined for what mail cannot be sent to. */
export function envelopeAddress(address: string): string | undefined {
  const local = address.slice(0, address.lastIndexOf('@'))
  return Array.from(local).length <= MAX_LOCAL_PART ? pathOf(address) : undefined
}

/**
 * The same for what an envelope may also hold: nothing, which is the null sender, and local parts of more than 64 characters,
 * as return paths that carry another address have them (SRS) and mail servers take them.
 */
export function envelopePath(address: string): string | undefined {
  if (address === '') return ''
  return Buffer.byteLength(address) > MAX_PATH_OCTETS ? undefined : pathOf(address)
}

function pathOf(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  if (at < 1 || !LOCAL_PART.test(local) || BLANK.test(address)) return undefined
  const ascii = asciiDomain(domain)
  return ascii === undefined ? undefined : `${local}@${ascii}`
}
