import { MailboxReport } from '#mail/mailboxes/model.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand, CommandResult, Invocation } from './command.ts'
import { namedAddress } from './mail-address.ts'

export const mailboxShow: CliCommand = {
  name: 'mailbox show',
  summary: 'Show a mailbox: its owners, settings and usage',
  words: ['ADDRESS'],
  options: [],
  run: showMailbox,
}

/** The mailbox that is named, as it is now. */
export async function showMailbox({
  args,
  service,
}: Pick<Invocation, 'args' | 'service'>): Promise<CommandResult> {
  const path = namedAddress(args).path('mailbox-reports')
  const report = await service.portalAs(MailboxReport, 'GET', path)
  return { json: report, text: mailboxText(report) }
}

function mailboxText(report: MailboxReport): string {
  const { address, status, ownerEmails, trashAutoPurge, trashRetentionDays } = report
  return columns(
    [
      ['address', address],
      ['status', status],
      ['owners', ownerEmails.join(', ') || 'none'],
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
