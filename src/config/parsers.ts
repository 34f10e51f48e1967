import { isIP } from 'node:net'

import type { DnsServerAddress } from './config.ts'
import type { Parse } from './env-reader.ts'

export function integerIn(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max
      ? { value }
      : { expected: `a whole number from ${min} to ${max}` }
  }
}

export const ratio: Parse<number> = (text) =>
  /^(?:0|1|0?\.\d{1,9}|[01]\.0*)$/.test(text)
    ? { value: Number(text) }
    : { expected: 'a number from 0 to 1' }

export const port = integerIn(1, 65_535)

export function wordOf<const Word extends string>(words: readonly Word[]): Parse<Word> {
  return (text) => {
    const value = words.find((word) => word === text)
    return value === undefined ? { expected: `one of ${words.join(', ')}` } : { value }
  }
}

/** Separated by commas; at least one, none twice. */
export function commaSeparated<T>(item: Parse<T>): Parse<T[]> {
  return (text) => {
    const values: T[] = []
    for (const part of text.split(',')) {
      const parsed = item(part.trim())
      if ('expected' in parsed)
        return { expected: `a list, separated by commas, of ${parsed.expected}` }
      if (!values.includes(parsed.value)) values.push(parsed.value)
    }
    return { value: values }
  }
}

export const trueOrFalse: Parse<boolean> = (text) =>
  text === 'true' || text === 'false' ? { value: text === 'true' } : { expected: 'true or false' }

/** A host name or an address to listen on. */
export const hostOrAddress: Parse<string> = (text) =>
  isIP(text) > 0 || /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text)
    ? { value: text }
    : { expected: 'a host name or an IP address' }

const DNS_LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** Leaves room for a label of 63 characters before it. */
const CONSOLE_DOMAIN = new RegExp(`^(?=.{1,189}$)${DNS_LABEL}(?:\\.${DNS_LABEL})+$`)

export const consoleDomain: Parse<string> = (text) =>
  CONSOLE_DOMAIN.test(text) && isIP(text) === 0
    ? { value: text }
    : { expected: 'a DNS name in lower case, with a dot and at most 189 characters' }

export const addressBlock: Parse<string> = (text) => {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  const widest = family === 4 ? 32 : 128
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest)
  return family > 0 && fits && rest.length === 0
    ? { value: text }
    : { expected: 'IP addresses or CIDR blocks' }
}

const DNS_PORT = 53

/** An address, with a port behind it where it is not that of DNS; an IPv6 address is in brackets then. */
export const dnsServer: Parse<DnsServerAddress> = (text) => {
  const [, bracketed, plain, digits] = /^(?:\[(.+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const address = isIP(text) > 0 ? text : (bracketed ?? plain ?? '')
  const given = Number(digits ?? DNS_PORT)
  const isServer = isIP(address) > 0 && given > 0 && given <= 65_535
  return isServer
    ? { value: Object.freeze({ address, port: given }) }
    : { expected: 'IP addresses of DNS servers, with a port or without' }
}

/** An absolute URL with one of these schemes and a host. */
export function url(...schemes: readonly string[]): Parse<string> {
  const expected = `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  return (text) => {
    const parsed = URL.parse(text)
    return parsed && schemes.includes(parsed.protocol.slice(0, -1)) && parsed.host !== ''
      ? { value: text }
      : { expected }
  }
}

/** A mail gateway; `starttls` says whether an unencrypted connection must be upgraded. */
export const smtpUrl: Parse<string> = (text) => {
  const parsed = URL.parse(text)
  const known =
    parsed !== null &&
    ['smtp:', 'smtps:'].includes(parsed.protocol) &&
    parsed.host !== '' &&
    ['', '/'].includes(parsed.pathname) &&
    parsed.hash === '' &&
    ['', '?starttls=required', '?starttls=optional'].includes(parsed.search)
  return known && isLogin(parsed.username, parsed.password)
    ? { value: text }
    : {
        expected:
          'a URL that starts with smtp:// or smtps://, with a password for its user if it names one, and nothing after the host but ?starttls=required or ?starttls=optional',
      }
}

/** Scheme, host and port; nothing after them but a slash, which is dropped. */
export const origin: Parse<string> = (text) => {
  const parsed = URL.parse(text)
  const plain =
    parsed !== null &&
    ['http:', 'https:'].includes(parsed.protocol) &&
    parsed.href === `${parsed.origin}/`
  return plain ? { value: parsed.origin } : { expected: 'an http or https URL without a path' }
}

const SPF_MECHANISM =
  /^(?:(?:include|a|mx):[a-z0-9_-]+(?:\.[a-z0-9_-]+)+|a|mx|ip4:[\d.]+(?:\/\d{1,2})?|ip6:[\da-f:.]+(?:\/\d{1,3})?)$/i

/** Mechanisms that let pass (RFC 7208 §5), separated by blanks. */
export const spfMechanisms: Parse<string[]> = (text) => {
  const mechanisms = text.trim().split(/ +/)
  return mechanisms.every(isSpfMechanism)
    ? { value: mechanisms }
    : { expected: 'mechanisms of SPF, separated by blanks: include:, a:, mx:, ip4: or ip6:' }
}

function isSpfMechanism(text: string): boolean {
  if (!SPF_MECHANISM.test(text)) return false
  const [, family, address] = /^ip([46]):([^/]+)/i.exec(text) ?? []
  return family === undefined || isIP(address ?? '') === Number(family)
}

/** What `Strict-Transport-Security` says (RFC 6797 §6.1), or `off`. */
export const hsts: Parse<string> = (text) =>
  text === 'off' || /^max-age=\d{1,10}(?:; ?includeSubDomains)?(?:; ?preload)?$/i.test(text)
    ? { value: text }
    : { expected: 'off, or max-age in seconds with includeSubDomains and preload behind it' }

/** 32 bytes in base64 or base64url. */
export const masterKey: Parse<string> = (text) =>
  /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
    ? { value: text }
    : { expected: '32 random bytes in base64 (make one with "openssl rand -base64 32")' }

/** Goes into a header, so nothing but visible ASCII. */
export const operatorKey: Parse<string> = (text) =>
  /^[\x21-\x7e]{24,512}$/.test(text)
    ? { value: text }
    : { expected: '24 to 512 visible ASCII characters (make one with "openssl rand -base64 32")' }

/** Both or neither, percent-encoded. */
function isLogin(user: string, password: string): boolean {
  try {
    decodeURIComponent(user + password)
    return (user === '') === (password === '')
  } catch {
    return false
  }
}

export const anyText: Parse<string> = (text) => ({ value: text })
