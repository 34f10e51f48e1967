import { MessageListItem } from '#mail/messages/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, choiceOption, textOption } from './command.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { itemPage } from './list-command.ts'
import { namedAddress } from './mail-address.ts'
import type { ServiceClient } from './service-client.ts'

const FROM_LENGTH = 40
const SUBJECT_LENGTH = 100

const MessagePage = itemPage(MessageListItem)

/** Options by the names that the service gives to filters. */
const FILTERS = { folder: 'folder', since: 'since', q: 'search' } as const

export const mailList: CliCommand = {
  name: 'mail list',
  summary: 'List the messages of a mailbox, newest first',
  words: ['ADDRESS'],
  options: [
    choiceOption(
      '--folder <folder>',
      ['inbox', 'sent', 'archive', 'trash'],
      'inbox, sent, archive or trash; all but the trash by default',
    ),
    textOption('--since <time>', 'only messages since then, like 2026-01-31'),
    textOption(
      '--search <words>',
      'only messages that match all; "a phrase", the beginn*, -without, from:, to:, subject:, filename:, has:attachment, is:unread, in:sent, before:, after:',
    ),
    LIMIT_OPTION,
  ],
  async run({ args, service }) {
    const { address, sitePath } = namedAddress(args)
    const filters: Record<string, string> = { mailbox: address }
    for (const [name, option] of Object.entries(FILTERS)) {
      const value = args.text(option)
      if (value !== undefined) filters[name] = value
    }
    const range = { filters, atMost: limitOf(args) }
    const items = await service.portalItems(MessagePage, sitePath('/messages'), range)
    return {
      json: { items },
      text: items.length === 0 ? 'There is no such message' : columns(items.map(rowOf)),
    }
  },
}

/** The newest message outside the trash, if there is one. `path` is that of the site's messages. */
export async function newestMessage(
  service: ServiceClient,
  path: string,
  mailbox: string,
): Promise<MessageListItem | undefined> {
  const range = { filters: { mailbox }, atMost: 1 }
  const [newest] = await service.portalItems(MessagePage, path, range)
  return newest
}

const rowOf = (item: MessageListItem): string[] =>
  [
    item.receivedAt,
    item.id,
    item.folder,
    item.seen ? '' : 'new',
    item.hasAttachments ? 'files' : '',
    shortened(item.from, FROM_LENGTH),
    shortened(item.subject, SUBJECT_LENGTH),
  ].map(printable)

function shortened(text: string, length: number): string {
  const characters = Array.from(text)
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}
