import { isJsonObject } from '#base/json-object.ts'
import type { SearchableText } from '#mail/search/message-vector.ts'

import { hasFiles, type MailContent } from './model.ts'
import type { MailboxMessage } from './queries.ts'

const MAX_TEXT = 100 * 1024
const MAX_NAMES = 20 * 1024

/** What a message is found by: its subject, the people, the names of its attachments, and its text. */
export function searchTextOf(
  {
    subject,
    fromAddress,
    recipients,
  }: Pick<MailboxMessage, 'subject' | 'fromAddress' | 'recipients'>,
  { attachments, text, status }: Pick<MailContent, 'attachments' | 'text' | 'status'>,
): SearchableText {
  const people = isJsonObject(recipients) ? recipients : {}
  const authors = textsIn(people['authors'])
  return {
    subject,
    from: authors.length === 0 ? [fromAddress] : upTo(MAX_NAMES, authors),
    to: upTo(MAX_NAMES, [...textsIn(people['to']), ...textsIn(people['cc'])]),
    filenames: upTo(
      MAX_NAMES,
      attachments.map(({ filename }) => filename),
    ),
    hasAttachments: hasFiles({ attachments }),
    // Of a message that was not understood the bytes are no words.
    text: status === 'parsed' ? text.slice(0, MAX_TEXT) : '',
  }
}

const textsIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []

/** The first ones that have no more characters together. */
function upTo(characters: number, names: readonly string[]): readonly string[] {
  let left = characters
  return names.flatMap((name) => {
    const shown = name.slice(0, Math.max(left, 0))
    left -= name.length
    return shown === '' ? [] : [shown]
  })
}
