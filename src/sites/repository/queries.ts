import { sql } from 'kysely'

import type { GitRef } from '#platform/git/bare-repository.ts'
import type { RefUpdate } from '#platform/git/push-channel.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** A pack of a repository, whose bytes are in the object store. */
export interface StoredPack {
  /** As git names it. */
  readonly pack: string
  readonly objectId: string
  readonly sizeBytes: number
}

/** What a repository is at one moment. */
export interface RepositorySnapshot {
  readonly version: number
  readonly refs: readonly GitRef[]
  readonly packs: readonly StoredPack[]
}

/** What of the site's row a push depends on. Locked until the transaction ends. */
export const lockSiteSource = (tx: SiteTx) => siteSource(tx).forNoKeyUpdate().executeTakeFirst()

export const selectSiteSource = (tx: SiteTx) => siteSource(tx).executeTakeFirst()

const siteSource = (tx: SiteTx) =>
  tx.db
    .selectFrom('site')
    .select(['source_mode', 'repo', 'repo_binding', 'deployment_settings'])
    .where('site_id', '=', tx.siteId)

/** Undefined for a site that was never pushed to. In one statement, so that every ref's objects are in the packs. */
export async function selectRepository(tx: SiteTx): Promise<RepositorySnapshot | undefined> {
  const { rows } = await sql<{
    version: string
    refs: readonly GitRef[]
    packs: readonly StoredPack[]
  }>`
    select version,
      coalesce((select jsonb_agg(jsonb_build_object('name', name, 'oid', oid) order by name)
        from site_repository_ref where site_id = ${tx.siteId}), '[]') as refs,
      coalesce((select jsonb_agg(jsonb_build_object(
        'pack', pack, 'objectId', object_id, 'sizeBytes', size_bytes) order by created_at, pack)
        from site_repository_pack where site_id = ${tx.siteId}), '[]') as packs
    from site_repository where site_id = ${tx.siteId}
  `.execute(tx.db)
  const [row] = rows
  return row && { ...row, version: Number(row.version) }
}

/** Makes the repository when it is not there, and holds it as it is until the transaction ends. */
export async function lockRepository(tx: SiteTx): Promise<RepositorySnapshot> {
  await tx.db
    .insertInto('site_repository')
    .values({ site_id: tx.siteId, version: '1' })
    .onConflict((on) =>
      on.column('site_id').doUpdateSet({ version: sql`site_repository.version + 1` }),
    )
    .execute()
  const held = await selectRepository(tx)
  if (!held) throw new Error('The repository that was locked is gone')
  return held
}

export async function insertPack(tx: SiteTx, pack: StoredPack, now: Date): Promise<void> {
  await tx.db
    .insertInto('site_repository_pack')
    .values({
      site_id: tx.siteId,
      pack: pack.pack,
      object_id: pack.objectId,
      size_bytes: String(pack.sizeBytes),
      created_at: now,
    })
    .onConflict((on) => on.doNothing())
    .execute()
}

export async function writeRef(
  tx: SiteTx,
  { name, newOid }: Pick<RefUpdate, 'name' | 'newOid'>,
): Promise<void> {
  if (newOid === undefined) {
    await tx.db
      .deleteFrom('site_repository_ref')
      .where('site_id', '=', tx.siteId)
      .where('name', '=', name)
      .execute()
    return
  }
  await tx.db
    .insertInto('site_repository_ref')
    .values({ site_id: tx.siteId, name, oid: newOid })
    .onConflict((on) => on.columns(['site_id', 'name']).doUpdateSet({ oid: newOid }))
    .execute()
}
