import type { Role } from '#base/actor.ts'
import { type Html, html } from '#http/oidc/pages/html.ts'
import type { TextKey } from '#languages/catalogues.ts'
import { type LocalizedText, t } from '#languages/message.ts'
import type { Mailbox } from '#mail/mailboxes/model.ts'

import type { AccountRequest } from './account-request.ts'
import { accountRow } from './account-rows.ts'

/** What a member of the admin pool can do at the site. */
export interface MemberOverview {
  readonly role: Role
  /** Those that the member owns, by address. */
  readonly mailboxes: readonly Mailbox[]
  readonly hasMoreMailboxes: boolean
  /** Where mail programs send. */
  readonly submission: { readonly host: string; readonly port: number }
}

const ROLES: Record<Role, { readonly name: TextKey; readonly text: TextKey }> = {
  'super-admin': { name: 'member.super-admin', text: 'member.super-admin-text' },
  admin: { name: 'member.admin', text: 'member.admin-text' },
  user: { name: 'member.user', text: 'member.user-text' },
}

/** Says what the role allows, which mailboxes are theirs, and where a developer goes on. */
export function memberSection({ site }: AccountRequest, membership: MemberOverview): Html {
  const { role, mailboxes, hasMoreMailboxes } = membership
  const { name, text } = ROLES[role]
  const takesMail = mailboxes.some(({ status }) => status === 'ACTIVE')
  return html`
    <h2>${t('member.title')}</h2>
    <ul class="rows">
      ${accountRow(t(name), t(text, { site: site.domain }))}
      ${mailboxes.length === 0 && accountRow(t('member.mailboxes'), t('member.mailboxes-none'))}
      ${mailboxes.map((mailbox) => accountRow(mailbox.address, mailboxText(mailbox, membership)))}
      ${hasMoreMailboxes && accountRow(t('member.mailboxes'), t('member.mailboxes-more'))}
      ${takesMail && accountRow(t('member.programs'), t('member.programs-text'))}
      ${role !== 'user' && accountRow(t('member.developer'), t('member.developer-text'))}
    </ul>
  `
}

const mailboxText = ({ status }: Mailbox, { submission }: MemberOverview): LocalizedText =>
  status === 'ACTIVE'
    ? // As text: no thousands are marked in a port.
      t('member.mailbox', { host: submission.host, port: String(submission.port) })
    : t('member.mailbox-disabled')
