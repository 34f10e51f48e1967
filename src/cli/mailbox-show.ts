import { MailboxReport } from '#mail/mailboxes/model.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import { namedAddress } from './mail-address.ts'
import type { ServiceClient } from './service-client.ts'

export const mailboxShow: CliCommand = {
  name: 'mailbox show',
  summary: 'A mailbox: its owners, settings and usage',
  words: ['ADDRESS'],
  options: [],
  async run({ args, service }) {
    const report = await readMailbox(service, namedAddress(args).path('mailboxes'))
    return { json: report, text: mailboxText(report) }
  },
}

export const readMailbox = (service: ServiceClient, path: string): Promise<MailboxReport> =>
  service.portalAs(MailboxReport, 'GET', path)

export function mailboxText(report: MailboxReport): string {
  const { address, status, ownerEmails, trashAutoPurge, trashRetentionDays } = report
  return columns(
    [
      ['address', address],
      ['status', status],
      ['owners', ownerEmails.join(', ') || 'nobody'],
      ['trash', trashAutoPurge ? `purged after ${trashRetentionDays} days` : 'kept'],
      ['usage', usageText(report)],
    ].map((row) => row.map(printable)),
  )
}

/** `1 200 bytes of 5 000 in 3 messages` */
export function usageText({ usage, quotaBytes, quotaMessages }: MailboxReport): string {
  const bytes = quotaBytes === null ? `${usage.bytes}` : `${usage.bytes} of ${quotaBytes}`
  const messages =
    quotaMessages === null ? `${usage.messages}` : `${usage.messages} of ${quotaMessages}`
  return `${bytes} bytes in ${messages} messages`
}
