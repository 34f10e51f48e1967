import { sql } from 'kysely'

import type { PageRequest } from '#base/page.ts'
import type { DirectoryTx, SiteTx, Tx } from '#platform/postgres/database.ts'

import type { LabelledSite } from './console-host.ts'
import type { SiteConfiguration, SiteRow } from './model.ts'
import { hostsOf } from './site-names.ts'

const COLUMNS = [
  'site_id',
  'domain',
  'admin_domain',
  'auth_domain',
  'former_auth_domains',
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
export async function insertSite(tx: SiteTx, site: SiteConfiguration, now: Date): Promise<SiteRow> {
  const row = await tx.db
    .insertInto('site')
    .values({ site_id: tx.siteId, ...columnsOf(site), created_at: now, updated_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  await insertHosts(tx, hostsOf(site))
  return row
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

/** By any of its names, with what the pages show of it. */
export const selectSiteEntry = (tx: DirectoryTx, host: string) =>
  siteEntries(tx).where('site_host.host', '=', host).executeTakeFirst()

/** The same for the label of its console. */
export const selectLabelledSiteEntry = (tx: DirectoryTx, site: LabelledSite) =>
  siteEntries(tx)
    .whereRef('site_host.host', '=', 'site.domain')
    .where(
      'domain' in site
        ? sql<boolean>`site.domain = ${site.domain}`
        : sql<boolean>`left(encode(sha256(site.domain::bytea), 'hex'), 32) = ${site.digest}`,
    )
    .executeTakeFirst()

const siteEntries = (tx: DirectoryTx) =>
  tx.db
    .selectFrom('site')
    .innerJoin('site_host', 'site_host.site_id', 'site.site_id')
    .leftJoin('site_branding', 'site_branding.site_id', 'site.site_id')
    .select(COLUMNS.map((column) => `site.${column}` as const))
    .select(['site_branding.color', 'site_branding.logo_version'])

/** Those of these names that some site has. */
export async function selectTakenHosts(
  tx: DirectoryTx,
  hosts: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('site_host')
    .select('host')
    .where('host', 'in', hosts)
    .execute()
  return rows.map(({ host }) => host)
}

/** By domain; one row more than asked for, so that the caller can tell whether a next page exists. */
export function selectSites(tx: DirectoryTx, page: PageRequest): Promise<SiteRow[]> {
  return sites(tx)
    .$if(page.after !== undefined, (query) => query.where('domain', '>', page.after ?? ''))
    .orderBy('domain')
    .limit(page.limit + 1)
    .execute()
}

/** Those whose visitors sign in on a name of its own, or did. */
export const selectSitesWithAuthNames = (tx: DirectoryTx, limit: number): Promise<SiteRow[]> =>
  sites(tx)
    .where(sql<boolean>`auth_domain is not null or former_auth_domains <> '{}'`)
    .orderBy('domain')
    .limit(limit)
    .execute()

/** Fails with Postgres' 23505 when another site has the domain. */
export async function updateSite(tx: SiteTx, site: SiteConfiguration, now: Date): Promise<SiteRow> {
  const row = await tx.db
    .updateTable('site')
    .set({ ...columnsOf(site), updated_at: now })
    .where('site_id', '=', tx.siteId)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  await setHosts(tx, site)
  return row
}

/** Fails with Postgres' 23505 when another site has one of them. */
async function setHosts(tx: SiteTx, site: SiteConfiguration): Promise<void> {
  const { db, siteId } = tx
  const hosts = hostsOf(site)
  await db
    .deleteFrom('site_host')
    .where('site_id', '=', siteId)
    .where('host', 'not in', hosts)
    .execute()
  const kept = await db.selectFrom('site_host').select('host').execute()
  const added = hosts.filter((host) => !kept.some((row) => row.host === host))
  if (added.length > 0) await insertHosts(tx, added)
}

async function insertHosts({ db, siteId }: SiteTx, hosts: readonly string[]): Promise<void> {
  await db
    .insertInto('site_host')
    .values(hosts.map((host) => ({ site_id: siteId, host })))
    .execute()
}

/** Everything that belongs to the site goes with it. Returns what it had. */
export const deleteSite = (tx: SiteTx): Promise<SiteRow | undefined> =>
  tx.db.deleteFrom('site').where('site_id', '=', tx.siteId).returning(COLUMNS).executeTakeFirst()

const sites = ({ db }: Pick<Tx, 'db'>) => db.selectFrom('site').select(COLUMNS)

const columnsOf = ({
  domain,
  adminDomain,
  authDomain,
  formerAuthDomains,
  region,
  source,
  deploymentSettings,
}: SiteConfiguration) => ({
  domain,
  admin_domain: adminDomain,
  auth_domain: authDomain,
  former_auth_domains: [...formerAuthDomains],
  region,
  source_mode: source.sourceMode,
  repo: source.repo === null ? null : JSON.stringify(source.repo),
  repo_binding: source.repoBinding === null ? null : JSON.stringify(source.repoBinding),
  deployment_settings: JSON.stringify(deploymentSettings),
})
