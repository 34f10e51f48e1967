import type { ReadMessage } from './read-message.ts'

/** Headers come first: more of a text need not be looked at. */
const MAX_TEXT = 64 * 1024
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

export const messageIdIn = (value: string): string | null => ID.exec(value)?.[1] ?? null

/** Of the message that a report returns, whole or in part; or of the one that it quotes. */
export function originalIdOf(mail: ReadMessage): string | null {
  const part = mail.parts.find(({ type }) => RETURNED.has(type))
  const returned = part === undefined ? null : firstId(part.text())
  return (
    returned ?? firstId(mail.text.slice(0, MAX_TEXT)) ?? messageIdIn(mail.header('in-reply-to'))
  )
}

const firstId = (text: string): string | null => [...text.matchAll(ID_FIELD)][0]?.[1] ?? null

/** The first address that is not the server's own. */
export const firstAddress = (text: string, except?: string): string | undefined =>
  text.match(ADDRESS)?.find((address) => address.toLowerCase() !== except?.toLowerCase())

/** The address that the sender of the original hid in its return path. */
export function verpRecipient(mail: ReadMessage): string | undefined {
  const [, local, domain] = VERP.exec(mail.header('to')) ?? []
  return local === undefined || domain === undefined ? undefined : `${local}@${domain}`
}
