import type { ShownCall } from '#app/api/call-text.ts'
import { pathTo } from '#app/router/route-match.ts'

export type MailFolder = 'INBOX' | 'SENT' | 'ARCHIVE' | 'TRASH' | 'ALL'

/** In the order of the screen. `ALL` is all but the trash. */
export const MAIL_FOLDERS: readonly MailFolder[] = ['INBOX', 'SENT', 'ARCHIVE', 'TRASH', 'ALL']

/** In the path, in place of an address: every mailbox that the person may read. */
const EVERY_MAILBOX = 'every'

/** What the path of a list of messages says. */
export interface MailPlace {
  /** Undefined for all that the person may read. */
  readonly mailbox: string | undefined
  readonly folder: MailFolder
}

export function mailPlaceOf(address: string | undefined, folder: string | undefined): MailPlace {
  return {
    mailbox: address === EVERY_MAILBOX ? undefined : address,
    folder: MAIL_FOLDERS.find((known) => known.toLowerCase() === folder?.toLowerCase()) ?? 'INBOX',
  }
}

export function mailPath({ mailbox, folder }: MailPlace): string {
  if (folder !== 'INBOX') {
    const params = { address: mailbox ?? EVERY_MAILBOX, folder: folder.toLowerCase() }
    return pathTo('/mail/{address}/{folder}', params)
  }
  return mailbox === undefined ? '/mail' : pathTo('/mail/{address}', { address: mailbox })
}

/** Lists the messages of a place. */
export function messagesCall(
  { mailbox, folder }: MailPlace,
  { q, unread }: { readonly q: string | undefined; readonly unread: boolean },
) {
  const query = {
    mailbox,
    folder: folder === 'ALL' ? undefined : folder,
    seen: unread ? 'false' : undefined,
    q,
    limit: '50',
  }
  const options = [
    folder === 'ALL' ? '' : ` --folder ${folder.toLowerCase()}`,
    q === undefined ? '' : ` --search '${q.replaceAll("'", String.raw`'\''`)}'`,
  ]
  const command =
    mailbox === undefined || unread
      ? {}
      : { command: `croft mail list ${mailbox}${options.join('')}` }
  return { method: 'GET', path: '/admin/api/messages', query, ...command } satisfies ShownCall
}
