import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import {
  MANIFEST_FORMAT,
  type StaticFile,
  type StaticManifest,
  parseManifest,
  storedStaticFiles,
} from './manifest.ts'

export interface CurrentManifest {
  /** Null for a site without a deployment. */
  readonly deploymentId: string | null
  /** Undefined where the deployment has no public folder, or was made before there was one. */
  readonly manifest: StaticManifest | undefined
}

export async function upsertManifest(
  tx: SiteTx,
  deploymentId: string,
  manifest: StaticManifest,
): Promise<void> {
  const text = JSON.stringify(manifest)
  await tx.db
    .insertInto('static_manifest')
    .values({ site_id: tx.siteId, deployment_id: deploymentId, manifest: text })
    .onConflict((on) => on.columns(['site_id', 'deployment_id']).doUpdateSet({ manifest: text }))
    .execute()
}

export async function deleteManifest(tx: SiteTx, deploymentId: string): Promise<void> {
  await tx.db
    .deleteFrom('static_manifest')
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', '=', deploymentId)
    .execute()
}

/** Of deployments whose files are kept no more. In the transaction that gives them up: what is swept later counts as unknown. */
export async function deleteRetiredManifests(tx: SiteTx): Promise<void> {
  const kept = tx.db
    .selectFrom('deployment')
    .select('deployment_id')
    .where('site_id', '=', tx.siteId)
    .where('status', '=', 'ready')
  await tx.db
    .deleteFrom('static_manifest')
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', 'not in', kept)
    .execute()
}

export async function selectCurrentManifest(tx: SiteTx): Promise<CurrentManifest> {
  const row = await tx.db
    .selectFrom('site')
    .leftJoin('static_manifest', (join) =>
      join
        .onRef('static_manifest.site_id', '=', 'site.site_id')
        .onRef('static_manifest.deployment_id', '=', 'site.current_deployment_id'),
    )
    .select(['site.current_deployment_id', 'static_manifest.manifest'])
    .where('site.site_id', '=', tx.siteId)
    .executeTakeFirst()
  return {
    deploymentId: row?.current_deployment_id ?? null,
    manifest: parseManifest(row?.manifest),
  }
}

export async function selectCurrentDeploymentId(tx: SiteTx): Promise<string | null> {
  const row = await tx.db
    .selectFrom('site')
    .select('current_deployment_id')
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
  return row?.current_deployment_id ?? null
}

/** The files of kept deployments whose names carry a hash, those of the latest one first. The current one's are among them. */
export async function selectKeptAssets(tx: SiteTx): Promise<readonly StaticFile[]> {
  const { rows } = await sql<{ files: unknown }>`
    select jsonb_path_query_array(m.manifest, '$.files[*] ? (@.immutable == true)') as files
    from static_manifest m
    join deployment d on d.site_id = m.site_id and d.deployment_id = m.deployment_id
    where m.site_id = ${tx.siteId} and d.status = 'ready'
      and (m.manifest ->> 'format')::int = ${MANIFEST_FORMAT}
    order by d.activated_at desc
  `.execute(tx.db)
  return rows.flatMap(({ files }) => storedStaticFiles(files))
}

/** Every file of the site's kept deployments for which compression was tried. */
export async function selectEncodedFiles(tx: SiteTx): Promise<readonly StaticFile[]> {
  const { rows } = await sql<{ files: unknown }>`
    select jsonb_path_query_array(manifest, '$.files[*] ? (@.encodings != null)') as files
    from static_manifest
    where site_id = ${tx.siteId} and (manifest ->> 'format')::int = ${MANIFEST_FORMAT}
  `.execute(tx.db)
  return rows.flatMap(({ files }) => storedStaticFiles(files))
}
