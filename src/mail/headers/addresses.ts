import { toStorable } from '#base/storable-text.ts'
import { parseAddressList } from '#sandbox/mail/mime/address-list.ts'

/** More recipients than that are not shown; the message itself has them all. */
const MAX_ADDRESSES = 500
/** Of all fields of a name together. */
const MAX_LENGTH = 64 * 1024
const MAX_NAME_LENGTH = 500
const MAX_ADDRESS_LENGTH = 320
/** What a name must be quoted for, RFC 5322 §3.2.3. */
const SPECIAL = /[()<>[\]:;@\\,."]/
/** What others may read an address in. */
const LIKE_ADDRESS = /[<>@]/

export interface AddressList {
  /** As people read them: `Ann Lee <ann@shop.test>`. */
  readonly texts: readonly string[]
  readonly addresses: readonly string[]
  /** Those that can be answered, as people read them. */
  readonly answerable: readonly string[]
  /** The first that can be answered, or else the first. */
  readonly author: { readonly text: string; readonly address: string } | undefined
}

interface Named {
  readonly name: string
  readonly address: string
}

/** The addresses of all fields of one name; the members of groups among the others. */
export function readAddresses(values: readonly string[]): AddressList {
  const list = values.join(', ').slice(0, MAX_LENGTH)
  const found = parseAddressList(list, MAX_ADDRESSES)
    .map(({ name, address }) => ({
      name: clean(name, MAX_NAME_LENGTH),
      address: clean(address, MAX_ADDRESS_LENGTH),
    }))
    .filter(({ name, address }) => name !== '' || address !== '')
  const answerable = found.filter(({ address }) => address.includes('@'))
  const author = answerable[0] ?? found[0]
  return {
    texts: found.map(textOf),
    answerable: answerable.map(textOf),
    addresses: found.map(({ address }) => address).filter((address) => address !== ''),
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
