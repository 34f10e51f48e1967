import type { PlatformServices } from '#platform/services.ts'

import { MailTransfer, type MailTransferDeps } from './mail-transfer.ts'
import { MailPurge, type MailPurgeDeps } from './purge.ts'
import { MailRemoval, type MailRemovalDeps } from './removal.ts'

/** Sites at once. */
const WORKERS = 2

export interface RemovalServices {
  readonly mailPurge: MailPurge
  readonly mailRemoval: MailRemoval
  readonly mailTransfer: MailTransfer
}

export function openRemoval(
  deps: PlatformServices &
    Pick<MailPurgeDeps, 'events'> &
    Pick<MailTransferDeps, 'mailParsing'> &
    Pick<MailRemovalDeps, 'mailReparsing'>,
): RemovalServices {
  const mailPurge = new MailPurge(deps)
  const mailRemoval = new MailRemoval({ ...deps, mailPurge })
  deps.queue.handle('mail-removal', (job, signal) => mailRemoval.run(job, signal), {
    concurrency: WORKERS,
  })
  return { mailPurge, mailRemoval, mailTransfer: new MailTransfer(deps) }
}
