import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'
import type { Logger } from '#platform/log/logger.ts'
import { createClient } from '#platform/postgres/client.ts'
import { applyMigrations, withMigrationLock } from '#platform/postgres/migrations.ts'
import { selectAppRole } from '#platform/postgres/role.ts'
import { grantQueue, installQueue } from '#platform/queue/install-queue.ts'

/** Applies what is missing of `migrations/` and installs the queue, as the role that the URL names. Gives the migrations' names. */
export async function migrateDatabase(options: {
  readonly url: string
  readonly log: Logger
  readonly folder?: string
  /** Leaves out all others. */
  readonly only?: ReadonlySet<string>
}): Promise<string[]> {
  const owner = createClient({ url: options.url, max: 1 })
  const folder = options.folder ?? join(installRoot(), 'migrations')
  try {
    const applied = await withMigrationLock(owner, async () => {
      const names = await applyMigrations(owner, folder, options.only)
      await installQueue(owner)
      const role = await selectAppRole(owner)
      if (role !== undefined) await grantQueue(owner, role)
      return names
    })
    if (applied.length > 0) options.log.info({ applied }, 'database migrated')
    return applied
  } finally {
    await owner.end({ timeout: 5 })
  }
}
