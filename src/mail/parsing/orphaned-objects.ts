import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { noteOrphans } from './queries.ts'

/** Has the objects of messages removed that are gone: attachments may have been written after the others went. */
export async function removeOrphans(
  tx: SiteTx,
  { queue }: Pick<PlatformServices, 'queue'>,
  rawIds: readonly string[],
): Promise<void> {
  if (rawIds.length === 0 || !(await noteOrphans(tx, rawIds))) return
  const { siteId } = tx
  await queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
}
