import { createHmac, timingSafeEqual } from 'node:crypto'

/** Days in which a bounce may come back, of the 1024 that a timestamp distinguishes. */
const VALID_DAYS = 21
const DAY_MS = 24 * 3_600_000
const DAYS = 1024
/** RFC 4648 §6, in lower case: servers on the way may change the case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
/** Forty bits, guessed against a server that counts messages. */
const HASH_LENGTH = 8
const SRS0 = /^srs0[=+-]([^=]+)=([^=]+)=([^=]+)=(.+)$/is
const SRS1 = /^srs1[=+-]([^=]+)=([^=]+)=(.+)$/is
/** Of any forwarder: the separator is its own choice. */
const FOREIGN_SRS0 = /^srs0([=+-].+)$/is

/** The sender that a return path leads back to, or why there is none. */
export type ReversedPath = { readonly address: string } | { readonly fault: 'forged' | 'expired' }

/** Whether it has the form of a return path of a forwarder. */
export const isReturnPath = (localPart: string): boolean => /^srs[01][=+-]/i.test(localPart)

/**
 * The local part under which mail of `sender` is sent on, so that SPF passes and bounces come back (Sender Rewriting Scheme,
 * https://www.libsrs2.org/srs/srs.pdf): `SRS0` for what comes from its author, `SRS1` for what was forwarded before, which
 * leads to the first forwarder.
 */
export function forwardPath(key: Uint8Array, sender: string, now: Date): string {
  const at = sender.lastIndexOf('@')
  const [local, domain] = [sender.slice(0, at), sender.slice(at + 1)]
  const again = SRS1.exec(local)
  if (again) {
    const [, , first = '', rest = ''] = again
    return `SRS1=${hashOf(key, first, rest)}=${first}=${rest}`
  }
  const rest = FOREIGN_SRS0.exec(local)?.[1]
  if (rest !== undefined) return `SRS1=${hashOf(key, domain, rest)}=${domain}=${rest}`
  const time = timestamp(now)
  return `SRS0=${hashOf(key, time, domain, local)}=${time}=${domain}=${local}`
}

/** What `forwardPath` made, with the same key. */
export function reversePath(key: Uint8Array, localPart: string, now: Date): ReversedPath {
  return SRS1.test(localPart) ? toFirst(key, localPart) : toAuthor(key, localPart, now)
}

function toFirst(key: Uint8Array, localPart: string): ReversedPath {
  const [, hash = '', first = '', rest = ''] = SRS1.exec(localPart) ?? []
  const isOwn = isHash(hash, hashOf(key, first, rest))
  return isOwn ? { address: `SRS0${rest}@${first}` } : { fault: 'forged' }
}

function toAuthor(key: Uint8Array, localPart: string, now: Date): ReversedPath {
  const [, hash = '', time = '', domain = '', local = ''] = SRS0.exec(localPart) ?? []
  if (!isHash(hash, hashOf(key, time, domain, local))) return { fault: 'forged' }
  return isCurrent(time, now) ? { address: `${local}@${domain}` } : { fault: 'expired' }
}

function hashOf(key: Uint8Array, ...parts: readonly string[]): string {
  const hmac = createHmac('sha256', key)
  // A server on the way may have changed the case.
  for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:${part.toLowerCase()}`)
  return Array.from(
    hmac.digest().subarray(0, HASH_LENGTH),
    (byte) => BASE32[byte % BASE32.length],
  ).join('')
}

function isHash(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given.toLowerCase()), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function timestamp(now: Date): string {
  const day = dayOf(now)
  return `${BASE32[day >> 5]}${BASE32[day & 31]}`
}

function isCurrent(time: string, now: Date): boolean {
  const [high = -1, low = -1] = Array.from(time.toLowerCase(), (letter) => BASE32.indexOf(letter))
  if (time.length !== 2 || high < 0 || low < 0) return false
  return (dayOf(now) - (high * 32 + low) + DAYS) % DAYS <= VALID_DAYS
}

const dayOf = (now: Date): number => Math.floor(now.getTime() / DAY_MS) % DAYS
