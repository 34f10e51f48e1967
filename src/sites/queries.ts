import type { PageRequest } from '#base/page.ts'
import type { DirectoryTx, SiteTx, Tx } from '#platform/postgres/database.ts'

import type { SiteConfiguration, SiteRow } from './model.ts'

const COLUMNS = [
  'site_id',
  'domain',
  'region',
  'source_mode',
  'repo',
  'repo_binding',
  'deployment_settings',
  'current_deployment_id',
  'created_at',
  'updated_at',
] as const

/** Fails with Postgres' 23505 when another site has the domain. */
export function insertSite(tx: SiteTx, site: SiteConfiguration, now: Date): Promise<SiteRow> {
  return tx.db
    .insertInto('site')
    .values({ site_id: tx.siteId, ...columnsOf(site), created_at: now, updated_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** For a site that came with its deployments from elsewhere. */
export async function setImportedDeployment(
  tx: SiteTx,
  deploymentId: string | null,
): Promise<void> {
  await tx.db
    .updateTable('site')
    .set({ current_deployment_id: deploymentId })
    .where('site_id', '=', tx.siteId)
    .execute()
}

export async function insertSiteKey(tx: SiteTx, wrappedKey: Buffer): Promise<void> {
  await tx.db
    .insertInto('site_key')
    .values({ site_id: tx.siteId, wrapped_key: wrappedKey })
    .execute()
}

export async function selectSiteKey(tx: SiteTx): Promise<Uint8Array | undefined> {
  const row = await tx.db
    .selectFrom('site_key')
    .select('wrapped_key')
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
  return row?.wrapped_key
}

export const selectSite = (tx: SiteTx): Promise<SiteRow | undefined> =>
  sites(tx).where('site_id', '=', tx.siteId).executeTakeFirst()

/** Locks the site's row until this transaction ends. */
export const lockSite = (tx: SiteTx): Promise<SiteRow | undefined> =>
  sites(tx).where('site_id', '=', tx.siteId).forNoKeyUpdate().executeTakeFirst()

export const selectSiteByDomain = (tx: DirectoryTx, domain: string): Promise<SiteRow | undefined> =>
  sites(tx).where('domain', '=', domain).executeTakeFirst()

/** With what the pages show of it. */
export const selectSiteEntry = (tx: DirectoryTx, domain: string) =>
  tx.db
    .selectFrom('site')
    .leftJoin('site_branding', 'site_branding.site_id', 'site.site_id')
    .select(COLUMNS.map((column) => `site.${column}` as const))
    .select(['site_branding.color', 'site_branding.logo_version'])
    .where('site.domain', '=', domain)
    .executeTakeFirst()

/** By domain; one row more than asked for, so that the caller can tell whether a next page exists. */
export function selectSites(tx: DirectoryTx, page: PageRequest): Promise<SiteRow[]> {
  return sites(tx)
    .$if(page.after !== undefined, (query) => query.where('domain', '>', page.after ?? ''))
    .orderBy('domain')
    .limit(page.limit + 1)
    .execute()
}

/** Fails with Postgres' 23505 when another site has the domain. */
export function updateSite(tx: SiteTx, site: SiteConfiguration, now: Date): Promise<SiteRow> {
  return tx.db
    .updateTable('site')
    .set({ ...columnsOf(site), updated_at: now })
    .where('site_id', '=', tx.siteId)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Everything that belongs to the site goes with it. Returns the domain it had. */
export async function deleteSite(tx: SiteTx): Promise<string | undefined> {
  const row = await tx.db
    .deleteFrom('site')
    .where('site_id', '=', tx.siteId)
    .returning('domain')
    .executeTakeFirst()
  return row?.domain
}

const sites = ({ db }: Pick<Tx, 'db'>) => db.selectFrom('site').select(COLUMNS)

const columnsOf = ({ domain, region, source, deploymentSettings }: SiteConfiguration) => ({
  domain,
  region,
  source_mode: source.sourceMode,
  repo: source.repo === null ? null : JSON.stringify(source.repo),
  repo_binding: source.repoBinding === null ? null : JSON.stringify(source.repoBinding),
  deployment_settings: JSON.stringify(deploymentSettings),
})
