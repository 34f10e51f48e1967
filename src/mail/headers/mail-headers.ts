import { decodeWords } from 'postal-mime'

import { toStorable } from '#base/storable-text.ts'

import { type AddressList, readAddresses } from './addresses.ts'
import { type HeaderFields, readHeaderFields } from './header-fields.ts'

/** RFC 5322 §2.1.1 gives a line 998 characters; subjects that are folded may be longer. */
const MAX_SUBJECT_LENGTH = 2000
/** As many as WildDuck and others keep; conversations that are longer are known by their last messages. */
const MAX_REFERENCES = 50
const MAX_ID_LENGTH = 998
/** RFC 5322 §3.6.4, and anything else that stands between brackets. */
const BRACKETED = /<([^<>]{1,998})>/g

/** What a message says of itself, as it is shown and as threads follow it. Everything is decoded and can be stored. */
export interface MailHeaders {
  readonly subject: string
  /** As it is shown; empty when there is none. */
  readonly from: string
  /** The address alone, in lower case; empty when there is none. */
  readonly fromAddress: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly replyTo: readonly string[]
  /** Without brackets, as all ids. */
  readonly messageId: string | null
  readonly inReplyTo: string | null
  /** The first one, and the last ones when there are more than fifty. */
  readonly references: readonly string[]
}

/**
 * Reads the header block at the start of a message (RFC 5322, with encoded words of RFC 2047 and UTF-8 of RFC 6532). Takes
 * whatever came: a field that is broken is empty, and time is bounded by the 256 KiB that are looked at.
 */
export function readMailHeaders(start: Uint8Array): MailHeaders {
  const fields = readHeaderFields(start)
  const from = readAddresses(fields.get('from'))
  return {
    subject: subjectOf(fields),
    from: from.texts[0] ?? '',
    fromAddress: from.addresses[0]?.toLowerCase() ?? '',
    to: textsOf(fields, 'to'),
    cc: textsOf(fields, 'cc'),
    replyTo: textsOf(fields, 'reply-to'),
    messageId: idsOf(fields, 'message-id')[0] ?? null,
    inReplyTo: idsOf(fields, 'in-reply-to')[0] ?? null,
    references: boundedReferences(idsOf(fields, 'references')),
  }
}

function subjectOf(fields: HeaderFields): string {
  const [value = ''] = fields.get('subject')
  const text = decodeWords(value.slice(0, MAX_SUBJECT_LENGTH * 2))
  return toStorable(text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_LENGTH))
}

const textsOf = (fields: HeaderFields, name: string): AddressList['texts'] =>
  readAddresses(fields.get(name)).texts

/** Some mailers leave the brackets out: then it is the first word. */
function idsOf(fields: HeaderFields, name: string): string[] {
  const [value = ''] = fields.get(name)
  const ids = Array.from(value.matchAll(BRACKETED), ([, id = '']) => id.trim())
  if (ids.length === 0) ids.push(value.trim().split(/[\s<>]/, 1)[0] ?? '')
  return ids.filter((id) => id !== '' && id.length <= MAX_ID_LENGTH).map(toStorable)
}

/** The first one, which began the conversation, and the last ones. */
export const boundedReferences = (ids: readonly string[]): string[] =>
  ids.length <= MAX_REFERENCES ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - MAX_REFERENCES)]
