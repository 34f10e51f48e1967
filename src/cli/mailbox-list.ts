import { MailboxReport } from '#mail/mailboxes/model.ts'

import { listCommand } from './list-command.ts'
import { usageText } from './mailbox-show.ts'

export const mailboxList = listCommand({
  name: 'mailbox list',
  summary: 'List the mailboxes of a site, their owners and what they use',
  path: '/mailbox-reports',
  item: MailboxReport,
  row: (report) => [
    report.address,
    report.status,
    usageText(report),
    report.ownerEmails.join(', '),
  ],
  empty: 'No mailbox yet: croft mailbox create',
})
