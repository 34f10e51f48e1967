import { toStorable } from '#base/storable-text.ts'

import type { AuthenticationOutcome } from './authentication.ts'
import type { StoredMessage } from './message-store.ts'
import type { InboundMessage } from './model.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** How a message came to a site, and for which of its mailboxes. */
interface Passage extends Pick<
  InboundMessage,
  'sender' | 'from' | 'deliveries' | 'receivedAt' | 'localKey'
> {
  readonly siteId: string
  /** The server's own name. */
  readonly hostname: string
}

/** What arrives at a site of a message whose bytes are stored. */
export function inboundMessageOf(
  stored: StoredMessage,
  { siteId, hostname, ...passage }: Passage,
): InboundMessage {
  const { sender, from } = passage
  const message = {
    ...passage,
    sender: toStorable(sender),
    from: { ...from, heloName: toStorable(from.heloName) },
    rawId: stored.rawIds.get(siteId) ?? '',
    sizeBytes: stored.sizeBytes,
    sha256: stored.sha256,
    authentication: stored.outcome.authentication,
    headers: stored.headers,
  }
  return { ...message, traceHeader: toStorable(traceHeader(message, hostname, stored.outcome)) }
}

/**
 * What RFC 5321 §4.4 puts before a message at its delivery. A recipient is named only where there is no other: who else got
 * a message is private.
 */
function traceHeader(
  message: Pick<InboundMessage, 'rawId' | 'sender' | 'from' | 'receivedAt' | 'deliveries'>,
  hostname: string,
  { header }: AuthenticationOutcome,
): string {
  const { rawId, sender, from, receivedAt, deliveries } = message
  const [only, ...others] = deliveries
  const forWhom = only && others.length === 0 ? `\r\n for <${plain(only.recipient)}>` : ''
  const cipher = from.tls === null ? '' : `\r\n (version=${from.tls.version} ${from.tls.cipher})`
  const name = plain(from.heloName) || 'unknown'
  const client = from.address === '' ? name : `${name} (${addressLiteral(from.address)})`
  const received = `Received: from ${client}\r\n by ${hostname} with ${from.protocol} id ${rawId}${cipher}${forWhom};\r\n ${rfc5322Date(receivedAt)}\r\n`
  return `Return-Path: <${plain(sender)}>\r\n${received}${header}`
}

const addressLiteral = (address: string): string =>
  address.includes(':') ? `[IPv6:${address}]` : `[${address}]`

/** Nothing that could end the line or the part that it is in. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}<>()\s]/gu, '')

function rfc5322Date(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = `${DAYS[date.getUTCDay()]}, ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  return `${day} ${date.getUTCFullYear()} ${time} +0000`
}
