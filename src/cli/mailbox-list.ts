import { Type } from '@sinclair/typebox'

import { MailboxReport } from '#mail/mailboxes/model.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import { usageText } from './mailbox-show.ts'
import { sitePath } from './service-client.ts'

const MailboxPage = Type.Object({
  items: Type.Array(MailboxReport),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const mailboxList: CliCommand = {
  name: 'mailbox list',
  summary: 'The mailboxes of a site, their owners and what they use',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, '/mailboxes')
    const items = await service.portalItems(MailboxPage, path)
    const rows = items.map((item) => {
      const { address, status, ownerEmails } = item
      return [address, status, usageText(item), ownerEmails.join(', ')].map(printable)
    })
    return {
      json: { items, nextToken: null },
      text: rows.length === 0 ? 'No mailbox yet: croft mailbox create' : columns(rows),
    }
  },
}
