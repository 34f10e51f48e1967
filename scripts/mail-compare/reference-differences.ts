import { safeFilename } from '#sandbox/mail/filenames.ts'

import type { Difference } from './expectation.ts'
import type { ReferenceMail, ReferenceText } from './python-reader.ts'
import { evenBlanks, type ShownMail } from './shown-mail.ts'

/** In which fields a message is shown otherwise than Python's `email` reads it. What that has no opinion of is no difference. */
export function referenceDifferences(reference: ReferenceMail, shown: ShownMail): Difference[] {
  return [
    ...parsed(shown),
    ...same('subject', reference.subject && evenBlanks(reference.subject), shown.subject),
    ...authorDifferences(reference, shown),
    ...same('to', addressesOf(reference.to), shown.to),
    ...same('cc', addressesOf(reference.cc), shown.cc),
    ...textDifferences(reference, shown),
    ...htmlDifferences(reference, shown),
    ...attachmentDifferences(reference, shown),
  ]
}

function parsed({ failed }: ShownMail): Difference[] {
  return failed === undefined ? [] : [{ field: 'parsed', expected: 'its parts', shown: failed }]
}

function same(field: string, expected: unknown, shown: unknown): Difference[] {
  if (expected === null || expected === undefined) return []
  const [one, other] = [JSON.stringify(expected), JSON.stringify(shown ?? null)]
  return one === other ? [] : [{ field, expected: one, shown: other }]
}

const addressesOf = (named: ReferenceMail['to']): string[] | null =>
  named && named.map(([, address]) => address.toLowerCase()).filter((address) => address !== '')

function authorDifferences({ from }: ReferenceMail, shown: ShownMail): Difference[] {
  const [first] = from ?? []
  if (first === undefined) return []
  const [name, address] = first
  return [
    ...same('from', address.toLowerCase(), shown.from?.address ?? ''),
    ...same('name of from', evenBlanks(name), shown.from?.name ?? ''),
  ]
}

function textDifferences(reference: ReferenceMail, shown: ShownMail): Difference[] {
  const { texts, pages } = reference
  const isBlank = shown.text === '' && (shown.html ?? '') === ''
  if (isReadable(reference) && isBlank)
    return [{ field: 'empty', expected: 'something to read', shown: '' }]
  if (texts.some(([declared]) => declared === null)) return []
  const whole = evenBlanks(texts.map(([declared]) => declared).join(' '))
  if (shown.isTruncated || whole === '') return []
  // Text that is made of HTML may be between the texts.
  const isSame =
    pages.length === 0 ? shown.text === whole : texts.every((text) => isIn(text, shown))
  return isSame ? [] : [{ field: 'text', expected: whole, shown: shown.text }]
}

function isReadable({ texts, pages, outside, attachments }: ReferenceMail): boolean {
  const inside = [...texts, ...pages].map((text) => readingOf(text) ?? '')
  const all = attachments.length === 0 ? [...inside, ...outside] : inside
  return all.some((text) => evenBlanks(text) !== '')
}

const readingOf = ([declared, utf8]: ReferenceText): string | null => utf8 ?? declared
const isIn = ([declared]: ReferenceText, { text }: ShownMail): boolean =>
  text.includes(evenBlanks(declared ?? ''))

function htmlDifferences({ pages }: ReferenceMail, shown: ShownMail): Difference[] {
  if (pages.some(([declared]) => declared === null) || shown.isTruncated) return []
  if (pages.length === 0) return same('html', 'none', shown.html === null ? 'none' : shown.html)
  const words = withoutBlanks(pages.map(([declared]) => declared).join(' '))
  const own = withoutBlanks(shown.html ?? '')
  return own.includes(words) ? [] : same('html', words, own)
}

/** A blank between two elements means nothing. */
const withoutBlanks = (text: string): string => evenBlanks(text).replaceAll(' ', '')

function attachmentDifferences({ attachments }: ReferenceMail, shown: ShownMail): Difference[] {
  const expected = attachments.map(({ filename, contentType }, at) =>
    safeFilename(filename, contentType, at + 1),
  )
  const names = shown.attachments.map(({ filename }) => filename)
  const found = same('attachments', expected.join(', '), names.join(', '))
  if (found.length > 0) return found
  return attachments.flatMap(({ contentType, sha256, sizeBytes }, at) => {
    const own = shown.attachments[at]
    return [
      ...same('attachment contentType', contentType, own?.contentType),
      ...same(
        'attachment bytes',
        sha256 && `${sizeBytes} ${sha256}`,
        own && `${own.sizeBytes} ${own.sha256}`,
      ),
    ]
  })
}
