import { SentMessage } from '#mail/sending/model.ts'

import { type CliCommand, flagOption, listOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { namedAddress } from './mail-address.ts'
import { messagePath } from './mail-show.ts'

const TEXT_OPTION = textOption('--text <text>', 'what it says')

export const mailSend: CliCommand = {
  name: 'mail send',
  summary: 'Send a message from a mailbox',
  words: ['ADDRESS'],
  options: [
    listOption('--to <address>', 'a recipient: "ann@example.com" or "Ann Lee <ann@example.com>"'),
    listOption('--cc <address>', 'a further recipient, shown to all'),
    listOption('--bcc <address>', 'a recipient that the others do not see'),
    textOption('--subject <subject>', 'its subject'),
    TEXT_OPTION,
  ],
  async run({ args, service }) {
    const to = args.list('to')
    if (to === undefined) throw new UsageError('--to is missing')
    const { address, sitePath } = namedAddress(args)
    const body = {
      mailbox: address,
      to,
      cc: args.list('cc') ?? [],
      bcc: args.list('bcc') ?? [],
      subject: args.required('subject'),
      body: args.required('text'),
    }
    const sent = await service.portalAs(SentMessage, 'POST', sitePath('/messages/send'), { body })
    return { json: sent, text: sentText(sent, siteOf(address)) }
  },
}

export const mailReply: CliCommand = {
  name: 'mail reply',
  summary: 'Reply to a message: by its id, or to the newest of a mailbox',
  words: ['MESSAGE'],
  options: [
    textOption('--site <domain>', 'where the id is from'),
    TEXT_OPTION,
    flagOption('--all', 'to the other recipients, too'),
  ],
  async run(call) {
    const { args, service } = call
    const body = { body: args.required('text'), replyAll: args.flag('all') }
    const path = `${await messagePath(call)}/reply`
    const sent = await service.portalAs(SentMessage, 'POST', path, { body })
    return { json: sent, text: sentText(sent, args.text('site') ?? siteOf(args.word)) }
  },
}

const siteOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

const sentText = ({ id }: SentMessage, site: string): string =>
  `It is on its way: croft mail show ${id} --site ${site} tells what becomes of it.`
