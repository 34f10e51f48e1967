import { invalid } from '#base/app-error.ts'
import { readAddresses } from '#mail/headers/addresses.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'

import { MAX_RECIPIENTS } from './model.ts'

/** A person that a message names. */
export interface Addressee {
  /** Empty when only the address was given. */
  readonly name: string
  /** As an envelope carries it. */
  readonly address: string
}

export interface Addressees {
  readonly to: readonly Addressee[]
  readonly cc: readonly Addressee[]
  readonly bcc: readonly Addressee[]
}

/** `ann@shop.test` or `Ann Lee <ann@shop.test>`. Throws a `ValidationError` for anything else, several addresses among it. */
export function parseAddressee(field: string, text: string): Addressee {
  const addressee = /\p{Cc}/u.test(text) ? undefined : addresseeOf(text)
  if (addressee) return addressee
  throw invalid(field, 'must be one address like "ann@example.com" or "Ann Lee <ann@example.com>"')
}

/** What a header says, where mail can be sent to it. */
export function addresseeOf(text: string): Addressee | undefined {
  const { texts, addresses } = readAddresses([text])
  const [shown = ''] = texts
  const address = envelopeAddress(addresses[0] ?? '')
  if (address === undefined || texts.length !== 1 || addresses.length !== 1) return undefined
  const name = shown.endsWith('>') ? shown.slice(0, shown.lastIndexOf('<')).trim() : ''
  return { name: unquoted(name), address }
}

export const parseAddressees = (field: string, texts: readonly string[]): Addressee[] =>
  texts.map((text, at) => parseAddressee(`${field}[${at}]`, text))

/** Each address once, in the order to, cc, bcc. Throws a `ValidationError` for none, or too many. */
export function recipientsOf({ to, cc, bcc }: Addressees): string[] {
  const recipients = [
    ...new Map(
      [...to, ...cc, ...bcc].map(({ address }) => [address.toLowerCase(), address]),
    ).values(),
  ]
  if (recipients.length === 0) throw invalid('to', 'must name at least one recipient')
  if (recipients.length <= MAX_RECIPIENTS) return recipients
  throw invalid(
    'to',
    `has ${recipients.length} recipients with cc and bcc: a message goes to at most ${MAX_RECIPIENTS}`,
  )
}

const unquoted = (name: string): string =>
  /^".*"$/s.test(name) ? name.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : name
