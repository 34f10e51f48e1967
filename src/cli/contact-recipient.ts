import { AddedContactRecipients, ContactRecipient } from '#mail/contact/recipient-model.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, listOption } from './command.ts'
import { UsageError } from './errors.ts'
import { listCommand } from './list-command.ts'
import { sitePath } from './service-client.ts'

const EMAIL = listOption('--email <address>', 'an address anywhere')

export const contactRecipientList = listCommand({
  name: 'contact-recipient list',
  summary: 'List the recipients of the contact form of a site',
  path: '/contact-recipients',
  item: ContactRecipient,
  row: ({ email, createdAt }) => [email, `since ${createdAt}`],
  empty: 'No recipients yet: croft contact-recipient add',
})

export const contactRecipientAdd: CliCommand = {
  name: 'contact-recipient add',
  summary: 'Add recipients to the contact form of a site',
  words: ['DOMAIN'],
  options: [EMAIL],
  async run({ args, service }) {
    const body = { recipients: emailsOf(args) }
    const added = await service.portalAs(AddedContactRecipients, 'POST', pathOf(args), { body })
    return { json: added, text: columns(added.items.map(({ email }) => [printable(email)])) }
  },
}

export const contactRecipientRemove: CliCommand = {
  name: 'contact-recipient remove',
  summary: 'Remove recipients from the contact form of a site',
  words: ['DOMAIN'],
  options: [EMAIL],
  async run({ args, service }) {
    const recipients = emailsOf(args)
    await service.portal('DELETE', pathOf(args), { body: { recipients } })
    return { json: { removed: recipients }, text: `Removed ${recipients.join(', ')}.` }
  },
}

const pathOf = (args: Arguments): string => sitePath(args.word, '/contact-recipients')

function emailsOf(args: Arguments): readonly string[] {
  const emails = args.list('email')
  if (emails === undefined) throw new UsageError('--email is missing')
  return emails
}
