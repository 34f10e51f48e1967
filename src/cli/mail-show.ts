import { setTimeout as delay } from 'node:timers/promises'

import { terminalText } from '#base/terminal-text.ts'
import { MessageDetail } from '#mail/messages/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, type Invocation, flagOption, textOption } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { namedAddress } from './mail-address.ts'
import { newestMessage } from './mail-list.ts'
import { sitePath } from './service-client.ts'

/** A message that has just come is read by then, or is one that takes long. */
const PARSING_MS = 5000
const PARSING_POLL_MS = 100

export const mailShow: CliCommand = {
  name: 'mail show',
  summary: 'Show a message: by its id, or the newest of a mailbox by its address',
  words: ['MESSAGE'],
  options: [
    textOption('--site <domain>', 'where the id is from'),
    flagOption('--raw', 'the message byte for byte; on a terminal, without control characters'),
  ],
  async run(call) {
    const { args, service } = call
    if (args.flag('raw') && args.flag('json'))
      throw new UsageError('--raw and --json exclude each other')
    const path = await messagePath(call)
    const read = () => service.portalAs(MessageDetail, 'GET', path)
    let message = await read()
    if (args.flag('raw')) return { bytes: service.download(message.rawUrl) }
    const deadline = Date.now() + PARSING_MS
    while (message.parsing === 'pending' && Date.now() < deadline) {
      await delay(PARSING_POLL_MS)
      message = await read()
    }
    return { json: message, text: messageText(message) }
  },
}

/** Of a message by its id, or of the newest of a mailbox. */
export async function messagePath({ args, service }: Invocation): Promise<string> {
  const site = args.text('site')
  if (!args.word.includes('@')) {
    if (site === undefined) throw new UsageError('--site is missing: an id is one of a site')
    return sitePath(site, `/messages/${encodeURIComponent(args.word)}`)
  }
  if (site !== undefined) throw new UsageError('--site goes with an id: an address names its site')
  const { address, sitePath: ofSite } = namedAddress(args)
  const newest = await newestMessage(service, ofSite('/messages'), address)
  if (newest === undefined) throw new CommandError(`"${address}" has no message outside the trash`)
  return ofSite(`/messages/${encodeURIComponent(newest.id)}`)
}

export function messageText(message: MessageDetail): string {
  const { text, attachments, deliveries } = message
  return [
    columns(headRows(message).map((row) => row.map(printable))),
    ...(attachments.length === 0 ? [] : [`attachments\n${columns(attachments.map(rowOf))}`]),
    ...(deliveries.length === 0 ? [] : [`sent to\n${columns(deliveries.map(deliveryRow))}`]),
    ...notes(message),
    ...(text === '' ? [] : [terminalText(text).trimEnd()]),
  ].join('\n\n')
}

function headRows(message: MessageDetail): string[][] {
  const { authentication, mailbox, folder, seen, deleted } = message
  const { spf, dkim, dmarc } = authentication
  const state = deleted ? 'deleted' : seen ? 'seen' : 'not seen'
  return [
    ['from', (message.authors ?? [message.from]).join(', ')],
    ['to', message.to.join(', ')],
    ['cc', message.cc.join(', ')],
    ['reply to', message.replyTo.join(', ')],
    ['subject', message.subject],
    ['received', message.receivedAt],
    ['mailbox', `${mailbox}, ${folder}, ${state}`],
    ['verdict', `SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}`],
    ['size', `${message.size} bytes`],
    ['id', message.id],
    ['message id', message.messageId ?? ''],
    ['in reply to', message.inReplyTo ?? ''],
  ].filter(([, value]) => value !== '')
}

const deliveryRow = ({ recipient, status, reply }: MessageDetail['deliveries'][number]): string[] =>
  ['', recipient, status, reply ?? ''].map(printable)

const rowOf = ({ filename, contentType, size }: MessageDetail['attachments'][number]): string[] =>
  ['', `${size} bytes`, contentType, filename].map(printable)

function notes({ parsing, truncated, text, html }: MessageDetail): string[] {
  if (parsing === 'pending') return ['It is not read yet: --raw prints the original.']
  if (parsing === 'failed')
    return ['It cannot be read. This is how it begins; --raw has all of it:']
  if (truncated) return ['It is cut; --raw has all of it:']
  return text === '' && html === null ? ['It has no text.'] : []
}
