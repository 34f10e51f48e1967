import { toStorable } from '#base/storable-text.ts'
import { decodeEncodedWords } from '#sandbox/mail/mime/encoded-words.ts'
import { charsetOfHeader } from '#sandbox/mail/mime/field-charset.ts'
import type { FieldOctets } from '#sandbox/mail/mime/header-fields.ts'

import { readAddressFields } from './addresses.ts'
import { readHeaderFields } from './header-fields.ts'

/** RFC 5322 §2.1.1 gives a line 998 characters; subjects that are folded may be longer. */
const MAX_SUBJECT_LENGTH = 2000
/** As many as WildDuck and others keep; conversations that are longer are known by their last messages. */
const MAX_REFERENCES = 50
const MAX_ID_LENGTH = 998
/** Of all fields of a name, with what is folded into them. */
const MAX_FIELD_BYTES = 64 * 1024
/** Of From, and of Reply-To: nearly a hundred authors. */
const MAX_AUTHOR_BYTES = 4096
/** Of To and Cc together: 500 addresses with their names. All of it is read within 15 milliseconds. */
const MAX_RECIPIENT_BYTES = 24 * 1024
/** RFC 5322 §3.6.4, and anything else in brackets. */
const BRACKETED = /<([^<>]{1,998})>/g

/** What a message says of itself, as it is shown and as threads follow it. Everything is decoded and can be stored. */
export interface MailHeaders {
  readonly subject: string
  /** As it is shown; empty when there is none. */
  readonly from: string
  /** The address alone, in lower case; empty when there is none. */
  readonly fromAddress: string
  /** All who can be answered, RFC 5322 §3.6.2; of a second From field none. */
  readonly authors: readonly string[]
  /** Whichever addresses a reader may be shown as those of the author, and names without one. */
  readonly authorIdentifiers: readonly string[]
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
 * whatever came: a field that is broken is empty, and time is bounded by the 256 KiB that are looked at. Of what follows the block,
 * the start tells the charset of raw bytes in it.
 */
export function readMailHeaders(start: Uint8Array): MailHeaders {
  const fields = readHeaderFields(start)
  const charset = charsetOfHeader(start, fields.bodyStart)
  const values = (name: string): readonly string[] =>
    fields.texts(name, { maxBytes: MAX_FIELD_BYTES, charset, guesses: true })
  // The longest field that people write tells its charset best.
  const subject = subjectOf(values('subject'))
  const octets = (name: string, maxBytes: number): FieldOctets =>
    fields.octets(name, { maxBytes, charset, guesses: true })
  const from = octets('from', MAX_AUTHOR_BYTES)
  const { author, answerable, identifiers } = readAddressFields(from)
  const isAlone = from.values.length < 2
  const first = { ...from, values: from.values.slice(0, 1) }
  const to = octets('to', MAX_RECIPIENT_BYTES)
  const toBytes = to.values.reduce((sum, { length }) => sum + length, 0)
  return {
    subject,
    from: author?.text ?? '',
    fromAddress: author?.address.toLowerCase() ?? '',
    authors: isAlone ? answerable : readAddressFields(first).answerable,
    authorIdentifiers: identifiers,
    to: readAddressFields(to).texts,
    cc: readAddressFields(octets('cc', MAX_RECIPIENT_BYTES - toBytes)).texts,
    replyTo: readAddressFields(octets('reply-to', MAX_AUTHOR_BYTES)).texts,
    messageId: idsOf(values('message-id'))[0] ?? null,
    inReplyTo: idsOf(values('in-reply-to'))[0] ?? null,
    references: boundedReferences(idsOf(values('references'))),
  }
}

/** The people of a message as it keeps them beside `from`; its authors where there are several. */
export const keptPeople = ({ authors, to, cc, replyTo }: MailHeaders) => ({
  to,
  cc,
  replyTo,
  ...(authors.length > 1 && { authors }),
})

function subjectOf([value = '']: readonly string[]): string {
  const text = decodeEncodedWords(value.slice(0, MAX_SUBJECT_LENGTH * 2))
  return toStorable(text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_LENGTH))
}

/** Some mailers leave the brackets out: then it is the first word. */
function idsOf([value = '']: readonly string[]): string[] {
  const ids = Array.from(value.matchAll(BRACKETED), ([, id = '']) => id.trim())
  if (ids.length === 0) ids.push(value.trim().split(/[\s<>]/, 1)[0] ?? '')
  return ids.filter((id) => id !== '' && id.length <= MAX_ID_LENGTH).map(toStorable)
}

/** The first one, which began the conversation, and the last ones. */
export const boundedReferences = (ids: readonly string[]): string[] =>
  ids.length <= MAX_REFERENCES ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - MAX_REFERENCES)]
