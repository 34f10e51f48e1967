import { sql } from 'kysely'

import type { Actor } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { SourceMode } from '#sites/source.ts'

import { deployerOf } from './deployer.ts'
import type { GitState } from './git-state.ts'
import {
  type ArtifactFile,
  type DeploymentRow,
  type DeploymentSource,
  type DeploymentSummaryRow,
  totalBytes,
} from './model.ts'

/** Deployments without their files that stay in the history of a site. */
const KEPT_REMOVED = 200

const SUMMARY_COLUMNS = [
  'deployment_id',
  'status',
  'source',
  'artifact_directory',
  'file_count',
  'size_bytes',
  'error',
  'deployed_by',
  'git',
  'created_at',
  'activated_at',
] as const

/** The columns of the site's row that deployments need. */
export interface DeployedSiteRow {
  readonly source_mode: SourceMode
  readonly repo: unknown
  readonly repo_binding: unknown
  readonly current_deployment_id: string | null
}

/** Lets deployments of one site begin, become current and be removed one after the other. Undefined when the site is gone. */
export const lockDeployedSite = (tx: SiteTx): Promise<DeployedSiteRow | undefined> =>
  deployedSite(tx).forNoKeyUpdate().executeTakeFirst()

export const selectDeployedSite = (tx: SiteTx): Promise<DeployedSiteRow | undefined> =>
  deployedSite(tx).executeTakeFirst()

const deployedSite = (tx: SiteTx) =>
  tx.db
    .selectFrom('site')
    .select(['source_mode', 'repo', 'repo_binding', 'current_deployment_id'])
    .where('site_id', '=', tx.siteId)

export async function updateCurrentDeployment(tx: SiteTx, deploymentId: string): Promise<void> {
  await tx.db
    .updateTable('site')
    .set({ current_deployment_id: deploymentId })
    .where('site_id', '=', tx.siteId)
    .execute()
}

export interface NewDeployment {
  readonly deploymentId: string
  readonly source: DeploymentSource
  readonly artifactDirectory: string
  readonly files: readonly ArtifactFile[]
  readonly by: Actor
  readonly git: GitState | null
}

export async function insertDeployment(
  tx: SiteTx,
  deployment: NewDeployment,
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('deployment')
    .values({
      site_id: tx.siteId,
      deployment_id: deployment.deploymentId,
      status: 'uploading',
      source: JSON.stringify(deployment.source),
      artifact_directory: deployment.artifactDirectory,
      files: JSON.stringify(deployment.files),
      file_count: deployment.files.length,
      size_bytes: String(totalBytes(deployment.files)),
      deployed_by: JSON.stringify(deployerOf(deployment.by)),
      git: deployment.git === null ? null : JSON.stringify(deployment.git),
      created_at: now,
    })
    .execute()
}

export function selectDeployment(
  tx: SiteTx,
  deploymentId: string,
): Promise<DeploymentRow | undefined> {
  return tx.db
    .selectFrom('deployment')
    .select([...SUMMARY_COLUMNS, 'files'])
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst()
}

/** The file of that path in any of the site's deployments. */
export async function selectFileAt(tx: SiteTx, path: string): Promise<unknown> {
  const found = await sql<{ file: unknown }>`
    select file from deployment, jsonb_array_elements(files) as file
    where site_id = ${tx.siteId} and file->>'path' = ${path} limit 1`.execute(tx.db)
  return found.rows[0]?.file
}

/** Where a page of deployments ended. */
export interface DeploymentKey {
  readonly createdAt: Date
  readonly deploymentId: string
}

/** Newest first. */
export function selectDeployments(
  tx: SiteTx,
  { limit, after }: { readonly limit: number; readonly after: DeploymentKey | undefined },
): Promise<DeploymentSummaryRow[]> {
  return tx.db
    .selectFrom('deployment')
    .select(SUMMARY_COLUMNS)
    .where('site_id', '=', tx.siteId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at, deployment_id) < (${after?.createdAt}, ${after?.deploymentId})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('deployment_id', 'desc')
    .limit(limit)
    .execute()
}

export async function markReady(tx: SiteTx, deploymentId: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('deployment')
    .set({ status: 'ready', error: null, activated_at: now })
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', '=', deploymentId)
    .execute()
}

/** Does not change a deployment that was current before. */
export async function markFailed(tx: SiteTx, deploymentId: string, error: string): Promise<void> {
  await tx.db
    .updateTable('deployment')
    .set({ status: 'failed', error })
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', '=', deploymentId)
    .where('status', 'in', ['uploading', 'failed'])
    .execute()
}

export interface Retention {
  /** Deployments that are kept to go back to, the current one not counted. */
  readonly keep: number
  /** Uploads and failures that began before this are given up. */
  readonly unfinishedBefore: Date
}

/** Never the current one. Those that no rollback will use lose their files, and their rows when more are newer. */
export async function retireOldDeployments(tx: SiteTx, retention: Retention): Promise<void> {
  await tx.db
    .updateTable('deployment')
    .set({ status: 'removed', files: '[]' })
    .where('site_id', '=', tx.siteId)
    .where('status', '=', 'ready')
    .where('deployment_id', 'is distinct from', currentOf(tx))
    .where('deployment_id', 'not in', newest(tx, 'ready', retention.keep))
    .execute()
  await tx.db
    .deleteFrom('deployment')
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', 'is distinct from', currentOf(tx))
    .where((where) =>
      where.or([
        where.and([
          where('status', '=', 'removed'),
          where('deployment_id', 'not in', newest(tx, 'removed', KEPT_REMOVED)),
        ]),
        where.and([
          where('status', 'in', ['uploading', 'failed']),
          where('created_at', '<', retention.unfinishedBefore),
        ]),
      ]),
    )
    .execute()
}

const currentOf = (tx: SiteTx) =>
  tx.db.selectFrom('site').select('current_deployment_id').where('site_id', '=', tx.siteId)

const newest = (tx: SiteTx, status: DeploymentRow['status'], count: number) =>
  tx.db
    .selectFrom('deployment')
    .select('deployment_id')
    .where('site_id', '=', tx.siteId)
    .where('status', '=', status)
    .where('deployment_id', 'is distinct from', currentOf(tx))
    .orderBy('activated_at', 'desc')
    .limit(count)

/** The contents that some deployment of the site still names. */
export async function selectReferencedHashes(tx: SiteTx): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ sha256: string }>`
    select distinct file ->> 'sha256' as sha256
    from deployment, jsonb_array_elements(files) as file
    where site_id = ${tx.siteId}
  `.execute(tx.db)
  return new Set(rows.map(({ sha256 }) => sha256))
}
