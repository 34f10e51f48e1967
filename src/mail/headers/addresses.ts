import { addressParser, decodeWords } from 'postal-mime'

import { toStorable } from '#base/storable-text.ts'

/** More recipients than that are not shown; the message itself has them all. */
const MAX_ADDRESSES = 500
/** Of all fields of a name together: the parser's time grows faster than the length, to 85 ms for the worst 32 KiB. */
const MAX_LENGTH = 8 * 1024
const MAX_NAME_LENGTH = 500
const MAX_ADDRESS_LENGTH = 320
/** What a name must be quoted for, RFC 5322 §3.2.3. */
const SPECIAL = /[()<>[\]:;@\\,."]/

export interface AddressList {
  /** As people read them: `Ann Lee <ann@shop.test>`. */
  readonly texts: readonly string[]
  readonly addresses: readonly string[]
}

/** The addresses of all fields of one name; the members of groups among the others. */
export function readAddresses(values: readonly string[]): AddressList {
  if (values.length === 0) return { texts: [], addresses: [] }
  const found = addressParser(values.join(', ').slice(0, MAX_LENGTH), { flatten: true })
    .slice(0, MAX_ADDRESSES)
    .map(({ name, address }) => ({
      name: clean(decodeWords(name), MAX_NAME_LENGTH),
      address: clean(address ?? '', MAX_ADDRESS_LENGTH),
    }))
    .filter(({ name, address }) => name !== '' || address !== '')
  return {
    texts: found.map(textOf),
    addresses: found.map(({ address }) => address).filter((address) => address !== ''),
  }
}

function textOf({ name, address }: { readonly name: string; readonly address: string }): string {
  if (name === '' || name === address) return address
  if (address === '') return name
  const shown = SPECIAL.test(name) ? `"${name.replaceAll(/(["\\])/g, '\\$1')}"` : name
  return `${shown} <${address}>`
}

const clean = (text: string, maxLength: number): string =>
  toStorable(
    text
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, maxLength),
  )
