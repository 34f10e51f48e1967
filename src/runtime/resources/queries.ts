import { sql } from 'kysely'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import type { AccountStatus, AccountStatusKey } from '#identity/users/model.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import { storedConfig } from './config.ts'
import type { Resource, ResourceName, ResourceType, TypedConfig } from './model.ts'

const COLUMNS = ['resource_id', 'type', 'name', 'config', 'created_at', 'updated_at'] as const

interface ResourceRow {
  readonly resource_id: string
  readonly type: ResourceType
  readonly name: string
  readonly config: unknown
  readonly created_at: Date
  readonly updated_at: Date
}

/** Of a resource that is not there, all columns are null. */
type NoResourceRow = Readonly<Record<keyof ResourceRow, null>>

type StandingRow = (ResourceRow | NoResourceRow) & {
  readonly email: string
  readonly role: AccountStatus['role']
  readonly tokens_valid_after: Date
  readonly groups: readonly string[]
  readonly signed_out: boolean
}

export interface StandingAndResource {
  readonly standing: AccountStatus
  readonly resource: Resource | undefined
}

export async function selectResources(tx: SiteTx): Promise<Resource[]> {
  const rows = await tx.db
    .selectFrom('data_resource')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .orderBy('name')
    .execute()
  return rows.map(toResource)
}

export async function selectResource(
  tx: SiteTx,
  resourceId: string,
): Promise<Resource | undefined> {
  const row = await tx.db
    .selectFrom('data_resource')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
  return row && toResource(row)
}

/** In a transaction of its own, in one round trip: runs for every action on a table or bucket. */
export async function readResource(
  database: Database,
  siteId: string,
  resourceId: string,
): Promise<Resource | undefined> {
  const [row] = await database.statement<ResourceRow>(
    'select resource_id, type, name, config, created_at, updated_at from resource_read($1, $2)',
    [siteId, resourceId],
  )
  return row && toResource(row)
}

/** As `selectAccountStatus` and `readResource`, in one round trip for both. Undefined when the account is gone. */
export async function readStandingAndResource(
  database: Database,
  siteId: string,
  { userPoolId, sub, familyId, resourceId }: AccountStatusKey & { readonly resourceId: string },
): Promise<StandingAndResource | undefined> {
  const [row] = await database.statement<StandingRow>(
    `select email, role, tokens_valid_after, groups, signed_out,
      resource_id, type, name, config, created_at, updated_at
    from user_standing_and_resource($1, $2, $3, $4, $5)`,
    [siteId, userPoolId, sub, familyId ?? null, resourceId],
  )
  if (row === undefined) return undefined
  const { email, role, tokens_valid_after, groups, signed_out, ...resource } = row
  const standing = {
    email,
    role,
    tokensValidAfter: tokens_valid_after,
    groups,
    signedOut: signed_out,
  }
  return { standing, resource: isThere(resource) ? toResource(resource) : undefined }
}

export async function selectResourceByName(
  tx: SiteTx,
  name: string,
): Promise<Resource | undefined> {
  const row = await tx.db
    .selectFrom('data_resource')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .where('name', '=', name)
    .executeTakeFirst()
  return row && toResource(row)
}

/** Of all of them, or of those that are called so. */
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
export async function lockResource(tx: SiteTx, resourceId: string): Promise<Resource | undefined> {
  const row = await tx.db
    .selectFrom('data_resource')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resourceId)
    .forUpdate()
    .executeTakeFirst()
  return row && toResource(row)
}

export async function insertResource(
  tx: SiteTx,
  resource: TypedConfig & { readonly resourceId: string; readonly name: string },
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
    .executeTakeFirst()
  if (!row) throw nameTaken(resource.name)
  return toResource(row)
}

export async function updateResource(
  tx: SiteTx,
  resource: TypedConfig & { readonly resourceId: string; readonly name: string },
  now: Date,
): Promise<Resource> {
  const row = await tx.db
    .updateTable('data_resource')
    .set({ name: resource.name, config: JSON.stringify(resource.config), updated_at: now })
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resource.resourceId)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(resource.name) : error
    })
  return toResource(row)
}

/** What it was; undefined when there was none. */
export async function deleteResource(
  tx: SiteTx,
  resourceId: string,
): Promise<ResourceType | undefined> {
  const row = await tx.db
    .deleteFrom('data_resource')
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', resourceId)
    .returning('type')
    .executeTakeFirst()
  return row?.type
}

export async function countResources(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('data_resource')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

/** Of the inline code of all functions but those that are leaving. */
export async function selectCodeBytes(tx: SiteTx, leaving: ReadonlySet<string>): Promise<number> {
  const { bytes } = await tx.db
    .selectFrom('data_resource')
    .select(sql<number>`coalesce(sum(code_bytes), 0)::int`.as('bytes'))
    .where('site_id', '=', tx.siteId)
    .where('type', '=', 'lambdaFunction')
    // One parameter: with one for each of hundreds of names Postgres plans longer than it sums.
    .where(sql<boolean>`name not in (select unnest(${[...leaving]}::text[]))`)
    .executeTakeFirstOrThrow()
  return bytes
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

const toResource = (row: ResourceRow): Resource => ({
  resourceId: row.resource_id,
  name: row.name,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...storedConfig(row.type, row.config),
})

const isThere = (row: ResourceRow | NoResourceRow): row is ResourceRow => row.resource_id !== null

const isUniqueViolation = (error: unknown): boolean => hasCode(error, '23505')

const nameTaken = (name: string): AppError =>
  new AppError('ResourceAlreadyExists', `Resource "${name}" already exists: choose another name`)
