import type { Attachment, Email } from 'postal-mime'

/** Headers come first: more of a part need not be looked at. */
const MAX_PART = 64 * 1024
const RETURNED = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/global',
  'message/global-headers',
])
const ID_FIELD = /^[ \t>]{0,10}message-id[ \t]{0,10}:\s{0,10}<([^<>\s]{1,998})>/gim
const ID = /<([^<>\s]{1,998})>/
const ADDRESS = /[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}/gi
/** `bounces+ann=shop.test@us.test`. */
const VERP = /[+-]([^+=@\s]{1,64})=([a-z0-9.-]{1,250})@/i

/** Of the fields with that name the first; empty when there is none. */
export const firstHeader = (email: Email, name: string): string =>
  email.headers.find(({ key }) => key === name)?.value ?? ''

/** The beginning of a part, as text. */
export function partText({ content }: Attachment): string {
  if (typeof content === 'string') return content.slice(0, MAX_PART)
  const bytes = content instanceof Uint8Array ? content : new Uint8Array(content)
  return new TextDecoder().decode(bytes.subarray(0, MAX_PART))
}

export const messageIdIn = (value: string): string | null => ID.exec(value)?.[1] ?? null

/** Of the message that a report returns, whole or in part; or of the one that it quotes. */
export function originalIdOf(email: Email): string | null {
  const part = email.attachments.find(({ mimeType }) => RETURNED.has(mimeType.toLowerCase()))
  const returned = part === undefined ? null : firstId(partText(part))
  return (
    returned ??
    firstId((email.text ?? '').slice(0, MAX_PART)) ??
    messageIdIn(firstHeader(email, 'in-reply-to'))
  )
}

const firstId = (text: string): string | null => [...text.matchAll(ID_FIELD)][0]?.[1] ?? null

/** The first address that is not the server's own. */
export const firstAddress = (text: string, except?: string): string | undefined =>
  text.match(ADDRESS)?.find((address) => address.toLowerCase() !== except?.toLowerCase())

/** The address that the sender of the original hid in its return path. */
export function verpRecipient(email: Email): string | undefined {
  const [, local, domain] = VERP.exec(firstHeader(email, 'to')) ?? []
  return local === undefined || domain === undefined ? undefined : `${local}@${domain}`
}
