import { toStorable } from '#base/storable-text.ts'
import { parseAddressOctets } from '#sandbox/mail/mime/address-list.ts'
import type { FieldOctets } from '#sandbox/mail/mime/header-fields.ts'

/** More recipients than that are not shown; the message itself has them all. */
const MAX_ADDRESSES = 500
/** Of all fields of a name together. */
const MAX_LENGTH = 32 * 1024
const MAX_NAME_LENGTH = 500
const MAX_ADDRESS_LENGTH = 320
/** What a name must be quoted for, RFC 5322 §3.2.3. */
const SPECIAL = /[()<>[\]:;@\\,."]/
/** What others may read an address in. */
const LIKE_ADDRESS = /[<>@]/
/** What turns the direction of letters (UAX 9), or cannot be seen: with them, one name or address looks like another. */
const BIDI = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g
/** Joiners as well, which scripts of names need and addresses do not. */
const UNSEEN = /[\u061C\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g

export interface AddressList {
  /** As people read them: `Ann Lee <ann@shop.test>`. */
  readonly texts: readonly string[]
  readonly addresses: readonly string[]
  /** Those, and names that are shown without one: people may read an address in them. */
  readonly identifiers: readonly string[]
  /** Those that can be answered, as people read them. */
  readonly answerable: readonly string[]
  /** The first that can be answered, or else the first. */
  readonly author: { readonly text: string; readonly address: string } | undefined
}

interface Named {
  readonly name: string
  readonly address: string
}

/** The addresses of a text that was never a field: what a person wrote. */
export const readAddresses = (values: readonly string[]): AddressList =>
  readAddressFields({
    values: values.map((value) => Buffer.from(value).toString('latin1')),
    decode: (octets) => Buffer.from(octets, 'latin1').toString(),
  })

const NO_ADDRESSES: AddressList = {
  texts: [],
  addresses: [],
  identifiers: [],
  answerable: [],
  author: undefined,
}

/** The addresses of all fields of one name; the members of groups among the others. */
export function readAddressFields({ values, decode }: FieldOctets): AddressList {
  if (values.length === 0) return NO_ADDRESSES
  const list = values.join(', ').slice(0, MAX_LENGTH)
  const found = parseAddressOctets(list, { maxCount: MAX_ADDRESSES, decode })
    .map(({ name, address }) => ({
      name: clean(name.replaceAll(BIDI, ''), MAX_NAME_LENGTH),
      address: clean(address.replaceAll(UNSEEN, ''), MAX_ADDRESS_LENGTH),
    }))
    .filter(({ name, address }) => name !== '' || address !== '')
  const answerable = found.filter(({ address }) => address.includes('@'))
  const author = answerable[0] ?? found[0]
  return {
    texts: found.map(textOf),
    answerable: answerable.map(textOf),
    addresses: found.map(({ address }) => address).filter((address) => address !== ''),
    identifiers: found.map(({ name, address }) => address || name),
    author: author && { text: textOf(author), address: author.address },
  }
}

function textOf({ name, address }: Named): string {
  if (name === '' || name === address) return address
  if (address === '') return LIKE_ADDRESS.test(name) ? quoted(name) : name
  return `${SPECIAL.test(name) ? quoted(name) : name} <${address}>`
}

const quoted = (name: string): string => `"${name.replaceAll(/(["\\])/g, '\\$1')}"`

const clean = (text: string, maxLength: number): string =>
  toStorable(
    text
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, maxLength),
  )
