import type { SiteTx } from '#platform/postgres/database.ts'

import { type CroftProcess, freePort } from './croft-process.ts'
import { type KillableService, killableService } from './killable-service.ts'
import { portalOf } from './operator.ts'

export interface KillableMailSite {
  readonly service: KillableService
  readonly smtpPort: number
  readonly croft: CroftProcess
  readonly siteId: string
}

/** A service that has been started, takes mail as fast as it comes, and has the site `kept.test` with these mailboxes: `mbx_info` is `info@`. */
export async function killableMailSite(
  cleanUp: AsyncDisposableStack,
  mailboxes: readonly string[],
): Promise<KillableMailSite> {
  const smtpPort = await freePort()
  const service = await killableService(cleanUp, {
    SMTP_PORT: String(smtpPort),
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: '1000000',
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: '1000000',
  })
  const croft = await service.start()
  const created = await portalOf(croft, service.operatorKey).createSite('kept.test')
  const { siteId } = created.json
  await service.database.withSite(siteId, (tx) => makeMailboxes(tx, mailboxes))
  return { service, smtpPort, croft, siteId }
}

async function makeMailboxes(tx: SiteTx, mailboxes: readonly string[]): Promise<void> {
  for (const name of mailboxes) {
    const address = { site_id: tx.siteId, local_part: name }
    const mailbox = { mailbox_id: `mbx_${name}`, quota_bytes: null, quota_messages: null }
    await tx.db
      .insertInto('mail_address')
      .values({ ...address, kind: 'mailbox' })
      .execute()
    await tx.db
      .insertInto('mailbox')
      .values({ ...address, ...mailbox, disabled_at: null })
      .execute()
  }
  await tx.db.insertInto('mail_usage').values({ site_id: tx.siteId }).execute()
}
