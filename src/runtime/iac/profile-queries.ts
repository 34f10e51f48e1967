import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

export interface ProfileRow {
  readonly profileName: string
  readonly updatedAt: Date
}

/** In the order of their names' bytes; there are at most 50. */
export function selectProfiles(tx: SiteTx): Promise<ProfileRow[]> {
  return tx.db
    .selectFrom('iac_definition')
    .select(['profile_name as profileName', 'updated_at as updatedAt'])
    .where('site_id', '=', tx.siteId)
    .orderBy(sql`profile_name collate "C"`)
    .execute()
}

export async function selectDefinition(
  tx: SiteTx,
  profileName: string,
): Promise<{ readonly definition: unknown } | undefined> {
  return tx.db
    .selectFrom('iac_definition')
    .select('definition')
    .where('site_id', '=', tx.siteId)
    .where('profile_name', '=', profileName)
    .executeTakeFirst()
}

export async function upsertDefinition(
  tx: SiteTx,
  profileName: string,
  definition: object,
  now: Date,
): Promise<void> {
  const text = JSON.stringify(definition)
  await tx.db
    .insertInto('iac_definition')
    .values({
      site_id: tx.siteId,
      profile_name: profileName,
      definition: text,
      created_at: now,
      updated_at: now,
    })
    .onConflict((on) =>
      on.columns(['site_id', 'profile_name']).doUpdateSet({ definition: text, updated_at: now }),
    )
    .execute()
}

export async function deleteDefinition(tx: SiteTx, profileName: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('iac_definition')
    .where('site_id', '=', tx.siteId)
    .where('profile_name', '=', profileName)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
