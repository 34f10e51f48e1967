import { invalid } from '#base/app-error.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'

/** RFC 5321 §4.5.3.1.1. */
const MAX_OCTETS = 64

type Rule = readonly [broken: (localPart: string) => boolean, fault: string]

const RULES: readonly Rule[] = [
  [
    (localPart) => localPart.includes('+'),
    'leave out "+" and what follows: mail to such an address reaches the one without it',
  ],
  [
    (localPart) => Buffer.byteLength(localPart) > MAX_OCTETS,
    `has more than ${MAX_OCTETS} octets before the "@"`,
  ],
  [
    (localPart) => /^\.|\.\.|\.$/.test(localPart),
    'has a dot at an end of its local part, or two in a row',
  ],
]

/** The one spelling under which a local part is stored and looked up: lower case, NFC. */
export const canonicalLocalPart = (text: string): string =>
  text.normalize('NFC').toLowerCase().normalize('NFC')

/** The canonical local part of an address of that domain, which may be written in Unicode; undefined for any other text. */
export function localPartAt(domain: string, address: string): string | undefined {
  const envelope = envelopeAddress(address.normalize('NFC'))
  if (envelope === undefined) return undefined
  const at = envelope.lastIndexOf('@')
  return envelope.slice(at + 1) === domain ? canonicalLocalPart(envelope.slice(0, at)) : undefined
}

/** The canonical local part of an address that a site is to have. A `ValidationError` says what is wrong with it. */
export function parseOwnAddress(domain: string, address: string, field: string): string {
  const localPart = localPartAt(domain, address)
  if (localPart === undefined) {
    throw invalid(field, `"${address}" is no address of this site, like "info@${domain}"`)
  }
  const fault = RULES.find(([broken]) => broken(localPart))?.[1]
  if (fault !== undefined) throw invalid(field, fault)
  return localPart
}

/** The part before the first `+`; undefined for a local part without one, or with nothing before it. */
export function withoutPlusPart(localPart: string): string | undefined {
  const plus = localPart.indexOf('+')
  return plus > 0 ? localPart.slice(0, plus) : undefined
}

/** RFC 5321 §4.1.2: a quoted string names the same mailbox as its content. */
export const withoutQuotes = (localPart: string): string =>
  /^".*"$/s.test(localPart) ? localPart.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : localPart
