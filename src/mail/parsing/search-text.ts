import { isJsonObject } from '#base/json-object.ts'

import type { MailContent } from './model.ts'
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
): string {
  const people = isJsonObject(recipients) ? [recipients['to'], recipients['cc']].flat() : []
  return [
    subject,
    fromAddress,
    people
      .filter((one) => typeof one === 'string')
      .join(' ')
      .slice(0, MAX_NAMES),
    attachments
      .map(({ filename }) => filename)
      .join(' ')
      .slice(0, MAX_NAMES),
    // Of a message that was not understood the bytes are no words.
    status === 'parsed' ? text.slice(0, MAX_TEXT) : '',
  ]
    .join('\n')
    .toWellFormed()
}
