import type { Difference } from './expectation.ts'
import type { ReferenceMail, ReferenceText } from './python-reader.ts'
import { evenBlanks } from './shown-mail.ts'

interface AllowedDifference {
  /** The heading in `docs/reference/mail-reader-differences.md`, which says why. */
  readonly reason: string
  readonly allows: (difference: Difference, reference: ReferenceMail, raw: string) => boolean
}

const TEXTS = new Set(['text', 'html', 'empty'])
const ADDRESSES = new Set(['from', 'name of from', 'to', 'cc'])
const FILES = new Set(['attachments', 'attachment contentType', 'attachment bytes'])
const ENCODINGS = /^(?:|7bit|8bit|binary|base64|quoted-printable|x-uuencode|uuencode|uue|x-uue)$/i
const TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/
const LOST = /\uFFFD/
const CONTROL = /[\x80-\x9F]/
const withoutBlanks = (text: string): string => text.replaceAll(/[\s"]+/g, '')
const asUtf8 = (text: string): string => Buffer.from(text, 'latin1').toString()
const utf8Of = (texts: readonly ReferenceText[]): string =>
  evenBlanks(texts.map(([declared, utf8]) => utf8 ?? declared).join(' '))

/** Every difference from Python's `email` that is meant, in the order in which they are tried. */
export const ALLOWED: readonly AllowedDifference[] = [
  {
    reason: 'Valid UTF-8 is UTF-8',
    allows: ({ field, expected, shown }, { texts, pages }) =>
      field === 'text' || field === 'html'
        ? [utf8Of(texts), utf8Of(pages)].some(
            (text) => text !== '' && withoutBlanks(shown).includes(withoutBlanks(text)),
          )
        : !TEXTS.has(field) && shown !== expected && asUtf8(expected) === shown,
  },
  {
    reason: 'Bytes that Python cannot decode',
    allows: ({ expected, shown }) =>
      LOST.test(expected) &&
      (expected.match(/\uFFFD/g) ?? []).length > (shown.match(/\uFFFD/g) ?? []).length,
  },
  {
    reason: 'ISO-8859-1 is windows-1252',
    allows: ({ expected, shown }) => CONTROL.test(expected) && !CONTROL.test(shown),
  },
  {
    reason: 'Escapes of ISO-2022 say what they are',
    allows: ({ expected, shown }) => expected.includes('\u001B') && !shown.includes('\u001B'),
  },
  {
    reason: 'NUL is shown',
    allows: ({ field, expected, shown }) =>
      TEXTS.has(field) && shown.replaceAll('\uFFFD', '') === expected.replaceAll(/[\0\uFFFD]/g, ''),
  },
  {
    reason: 'Flowed text is joined',
    allows: ({ field, expected, shown }, _, raw) =>
      field === 'text' &&
      /format\s*=\s*"?flowed/i.test(raw) &&
      shown.replaceAll(/[\s>]+/g, '') === expected.replaceAll(/[\s>]+/g, ''),
  },
  {
    reason: 'Addresses that Python finds fault with',
    allows: ({ field }, { faulty }) =>
      ADDRESSES.has(field) && faulty.includes(field === 'name of from' ? 'from' : field),
  },
  {
    reason: 'A comment is a name',
    allows: ({ field, expected }) => field === 'name of from' && expected === '""',
  },
  {
    reason: 'Encoded words in a row have no blank between them',
    allows: ({ field, expected, shown }) =>
      !FILES.has(field) && !TEXTS.has(field) && withoutBlanks(expected) === withoutBlanks(shown),
  },
  {
    reason: 'A header ends at the first empty line',
    allows: ({ field }, { defects }) =>
      (field === 'text' || field === 'subject' || ADDRESSES.has(field)) &&
      defects.includes('MissingHeaderBodySeparatorDefect'),
  },
  {
    reason: 'Names of files that Python finds fault with',
    allows: ({ field }, { attachments }, raw) =>
      field === 'attachments' &&
      (attachments.some(({ isFaulty }) => isFaulty) ||
        (/filename\*/i.test(raw) && /filename\s*=/i.test(raw))),
  },
  {
    reason: 'Transfer encodings with decoration',
    allows: ({ field }, { attachments }) =>
      field === 'attachment bytes' && attachments.some(({ encoding }) => !ENCODINGS.test(encoding)),
  },
  {
    reason: 'Blanks before a soft line break',
    allows: ({ field }, _, raw) =>
      (field === 'attachment bytes' || field === 'text') && /=[ \t]+\r?\n/.test(raw),
  },
  {
    reason: 'Types that are none',
    allows: ({ field }, { attachments }) =>
      FILES.has(field) && attachments.some(({ contentType }) => !TYPE.test(contentType)),
  },
  {
    reason: 'A multipart without parts is text',
    allows: ({ field }, { attachments }) =>
      FILES.has(field) &&
      attachments.some(({ contentType }) => contentType.startsWith('multipart/')),
  },
  {
    reason: 'Text of every subtype is text',
    allows: ({ field }, { attachments }) =>
      field === 'attachments' &&
      attachments.some(({ contentType }) => /^text\/(?!plain$|html$|calendar$)/.test(contentType)),
  },
  {
    reason: 'A notice about MIME is not text',
    allows: ({ field }, { texts, pages, outside }) =>
      field === 'empty' &&
      outside.every((text) => /\bMIME\b/.test(text)) &&
      [utf8Of(texts), utf8Of(pages)].every((text) => text === ''),
  },
]

export const reasonOf = (
  difference: Difference,
  reference: ReferenceMail,
  raw: Buffer,
): string | undefined => {
  const text = raw.toString('latin1')
  return ALLOWED.find(({ allows }) => allows(difference, reference, text))?.reason
}
