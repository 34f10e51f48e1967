import { sql } from 'kysely'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import type { PageRequest } from '#base/page.ts'
import type { AccountStatus, AccountStatusKey } from '#identity/users/model.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import type { Resource, ResourceName, TypedConfig } from './model.ts'

const UNIQUE_VIOLATION = '23505'
const COLUMNS = [
  'resource_id as resourceId',
  'type',
  'name',
  'config',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const
/** The same columns in a statement that is written as text. */
const COLUMNS_TEXT =
  'resource_id as "resourceId", type, name, config, created_at as "createdAt", updated_at as "updatedAt"'

export interface AccountStatusAndResource {
  readonly accountStatus: AccountStatus
  readonly resource: Resource | undefined
}

type ResourceDefinition = TypedConfig & Pick<Resource, 'resourceId' | 'name'>

export const selectResources = (tx: SiteTx): Promise<Resource[]> =>
  resources(tx).orderBy('name').execute()

export const selectResourcePage = (
  tx: SiteTx,
  { after, limit }: PageRequest,
): Promise<Resource[]> => {
  const all = resources(tx)
    .orderBy('name')
    .limit(limit + 1)
  return (after === undefined ? all : all.where('name', '>', after)).execute()
}

export const selectResource = (tx: SiteTx, resourceId: string): Promise<Resource | undefined> =>
  resources(tx).where('resource_id', '=', resourceId).executeTakeFirst()

/** Reads in a transaction of its own, in one round trip, because this runs for every action on a table or bucket. */
export async function readResource(
  database: Database,
  siteId: string,
  resourceId: string,
): Promise<Resource | undefined> {
  const [row] = await database.statement<Resource>(
    `select ${COLUMNS_TEXT} from resource_read($1, $2)`,
    [siteId, resourceId],
  )
  return row
}

/** Does what `selectAccountStatus` and `readResource` do, in one round trip. Undefined when the account is gone. */
export async function readAccountStatusAndResource(
  database: Database,
  siteId: string,
  { userPoolId, sub, familyId, resourceId }: AccountStatusKey & { readonly resourceId: string },
): Promise<AccountStatusAndResource | undefined> {
  // All columns are null when the resource does not exist.
  const [row] = await database.statement<
    AccountStatus & (Resource | Readonly<Record<keyof Resource, null>>)
  >(
    `select email, role, tokens_valid_after as "tokensValidAfter", groups,
      signed_out as "signedOut", ${COLUMNS_TEXT}
    from user_standing_and_resource($1, $2, $3, $4, $5)`,
    [siteId, userPoolId, sub, familyId ?? null, resourceId],
  )
  if (row === undefined) return undefined
  const { email, role, tokensValidAfter, groups, signedOut, ...resource } = row
  return {
    accountStatus: { email, role, tokensValidAfter, groups, signedOut },
    resource: resource.resourceId === null ? undefined : resource,
  }
}

export const selectResourceByName = (tx: SiteTx, name: string): Promise<Resource | undefined> =>
  resources(tx).where('name', '=', name).executeTakeFirst()

export async function selectResourceNames(
  tx: SiteTx,
  called?: readonly string[],
): Promise<ResourceName[]> {
  if (called?.length === 0) return []
  return tx.db
    .selectFrom('data_resource')
    .select(['resource_id as resourceId', 'name', 'type'])
    .where('site_id', '=', tx.siteId)
    .$if(called !== undefined, (query) => query.where('name', 'in', called ?? []))
    .execute()
}

/** Locks the row: two changes of one resource happen one after the other. */
export const lockResource = (tx: SiteTx, resourceId: string): Promise<Resource | undefined> =>
  resources(tx).where('resource_id', '=', resourceId).forUpdate().executeTakeFirst()

export async function insertResource(
  tx: SiteTx,
  resource: ResourceDefinition,
  now: Date,
): Promise<Resource> {
  const row = await tx.db
    .insertInto('data_resource')
    .values({
      site_id: tx.siteId,
      resource_id: resource.resourceId,
      type: resource.type,
      name: resource.name,
      config: JSON.stringify(resource.config),
      created_at: now,
      updated_at: now,
    })
    .onConflict((on) => on.columns(['site_id', 'name']).doNothing())
    .returning(COLUMNS)
    .$castTo<Resource>()
    .executeTakeFirst()
  if (!row) throw nameTaken(resource.name)
  return row
}

export function updateResource(
  tx: SiteTx,
  resource: ResourceDefinition,
  now: Date,
): Promise<Resource> {
  return tx.db
    .updateTable('data_resource')
    .set({ name: resource.name, config: JSON.stringify(resource.config), updated_at: now })
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resource.resourceId)
    .returning(COLUMNS)
    .$castTo<Resource>()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      throw hasCode(error, UNIQUE_VIOLATION) ? nameTaken(resource.name) : error
    })
}

/** What it was; undefined when there was none. */
export const deleteResource = (
  tx: SiteTx,
  resourceId: string,
): Promise<Pick<Resource, 'resourceId' | 'type' | 'name'> | undefined> =>
  tx.db
    .deleteFrom('data_resource')
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resourceId)
    .returning(['resource_id as resourceId', 'type', 'name'])
    .executeTakeFirst()

export async function countResources(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('data_resource')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

/** Sums the inline code of all functions but those with these names. */
export async function selectCodeBytes(tx: SiteTx, except: ReadonlySet<string>): Promise<number> {
  const { bytes } = await tx.db
    .selectFrom('data_resource')
    .select(sql<number>`coalesce(sum(code_bytes), 0)::int`.as('bytes'))
    .where('site_id', '=', tx.siteId)
    .where('type', '=', 'lambdaFunction')
    // One parameter: with one for each of hundreds of names Postgres plans longer than it sums.
    .where(sql<boolean>`name not in (select unnest(${[...except]}::text[]))`)
    .executeTakeFirstOrThrow()
  return bytes
}

/** Every version of a row has another `xmin`. */
export async function selectFunctionsVersion(tx: SiteTx): Promise<string> {
  const { version } = await tx.db
    .selectFrom('data_resource')
    .select(
      sql<string>`coalesce(string_agg(resource_id || ':' || xmin::text, ',' order by resource_id), '')`.as(
        'version',
      ),
    )
    .where('site_id', '=', tx.siteId)
    .where('type', '=', 'lambdaFunction')
    .executeTakeFirstOrThrow()
  return version
}

/** Names of the functions that were granted access to a resource. */
export async function selectGrantees(tx: SiteTx, resourceId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_resource')
    .select('name')
    .where('site_id', '=', tx.siteId)
    .where('type', '=', 'lambdaFunction')
    .where(sql<boolean>`granted @> ${JSON.stringify([{ resourceId }])}::text::jsonb`)
    .orderBy('name')
    .execute()
  return rows.map((row) => row.name)
}

/** Only `parseConfig` makes what the column `config` holds. */
const resources = (tx: SiteTx) =>
  tx.db
    .selectFrom('data_resource')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .$castTo<Resource>()

const nameTaken = (name: string): AppError =>
  new AppError('ResourceAlreadyExists', `Resource "${name}" already exists: choose another name`)
