import { sql } from 'kysely'

import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type Renaming, renameKey } from '#platform/postgres/rename-key.ts'

import type { DataGroup, GroupMember } from './model.ts'

interface PageLimit {
  readonly limit: number
  readonly after: string | undefined
}

export interface MemberKey extends UserKey {
  readonly groupName: string
}

const groups = ({ db, siteId }: SiteTx) =>
  db
    .selectFrom('data_group')
    .select(['group_name as groupName', 'description'])
    .where('site_id', '=', siteId)

export function selectGroups(tx: SiteTx, page: PageLimit): Promise<DataGroup[]> {
  return groups(tx)
    .$if(page.after !== undefined, (query) => query.where('group_name', '>', page.after ?? ''))
    .orderBy('group_name')
    .limit(page.limit)
    .execute()
}

export function selectAllGroups(tx: SiteTx): Promise<DataGroup[]> {
  return groups(tx)
    .orderBy(sql`group_name collate "C"`)
    .execute()
}

export function selectGroup(tx: SiteTx, groupName: string): Promise<DataGroup | undefined> {
  return groups(tx).where('group_name', '=', groupName).executeTakeFirst()
}

export async function updateGroup(tx: SiteTx, group: DataGroup): Promise<void> {
  await tx.db
    .updateTable('data_group')
    .set({ description: group.description })
    .where('site_id', '=', tx.siteId)
    .where('group_name', '=', group.groupName)
    .execute()
}

/** Others that count a site's groups, to add one, wait until the transaction ends. */
export async function countGroups(tx: SiteTx): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('data_group'), hashtext(${tx.siteId}))`.execute(
    tx.db,
  )
  const { count } = await tx.db
    .selectFrom('data_group')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

/** Whether there was none of that name. */
export async function insertGroup(tx: SiteTx, group: DataGroup, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('data_group')
    .values({
      site_id: tx.siteId,
      group_name: group.groupName,
      description: group.description,
      created_at: now,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

const GROUP_NAME = {
  table: 'data_group',
  column: 'group_name',
  referrers: [{ table: 'data_group_member', column: 'group_name' }],
} as const

/** With its members; false when there is no such group. */
export const renameGroup = (tx: SiteTx, names: Renaming): Promise<boolean> =>
  renameKey(tx, GROUP_NAME, names)

/** With its members. */
export async function deleteGroup(tx: SiteTx, groupName: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('data_group')
    .where('site_id', '=', tx.siteId)
    .where('group_name', '=', groupName)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Whether it exists; until the transaction ends it cannot be locked or deleted by others. */
export async function lockGroup(tx: SiteTx, groupName: string): Promise<boolean> {
  const row = await groups(tx).where('group_name', '=', groupName).forUpdate().executeTakeFirst()
  return row !== undefined
}

/** Those of these names that exist; until the transaction ends they stay. Locks them in one order. */
export async function shareLockGroups(tx: SiteTx, names: readonly string[]): Promise<Set<string>> {
  const rows = await groups(tx)
    .where('group_name', 'in', names)
    .orderBy(sql`group_name collate "C"`)
    .forKeyShare()
    .execute()
  return new Set(rows.map(({ groupName }) => groupName))
}

/** Whether it exists; until the transaction ends it stays. */
export async function shareLockGroup(tx: SiteTx, groupName: string): Promise<boolean> {
  const row = await groups(tx).where('group_name', '=', groupName).forKeyShare().executeTakeFirst()
  return row !== undefined
}

/** The visitor with that address, whose groups change one at a time. */
export function lockVisitor(
  tx: SiteTx,
  userPoolId: string,
  email: string,
): Promise<{ sub: string; email: string } | undefined> {
  return tx.db
    .selectFrom('pool_user')
    .select(['sub', 'email'])
    .where(inPool(tx, userPoolId))
    .where('email', '=', email)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** How many groups a visitor is in, and how long they are as JSON. */
export function selectGroupsSize(
  tx: SiteTx,
  visitor: UserKey,
): Promise<{ count: number; bytes: number }> {
  return tx.db
    .selectFrom('data_group_member')
    .select([
      sql<number>`count(*)::int`.as('count'),
      sql<number>`coalesce(sum(octet_length(to_json(group_name)::text) + 1), 0)::int`.as('bytes'),
    ])
    .where(ofUser(tx, visitor))
    .executeTakeFirstOrThrow()
}

/** By `sub`, in which order the primary key gives them. `page.after` is a `sub`. */
export function selectMembers(
  tx: SiteTx,
  groupName: string,
  page: PageLimit,
): Promise<GroupMember[]> {
  return tx.db
    .selectFrom('data_group_member as member')
    .innerJoin('pool_user as visitor', (join) =>
      join
        .onRef('visitor.site_id', '=', 'member.site_id')
        .onRef('visitor.user_pool_id', '=', 'member.user_pool_id')
        .onRef('visitor.sub', '=', 'member.sub'),
    )
    .select(['member.sub', 'visitor.email', 'member.added_at as addedAt'])
    .where('member.site_id', '=', tx.siteId)
    .where('member.group_name', '=', groupName)
    .$if(page.after !== undefined, (query) => query.where('member.sub', '>', page.after ?? ''))
    .orderBy('member.sub')
    .limit(page.limit)
    .execute()
}

/** Whether they were none yet. */
export async function insertMember(tx: SiteTx, member: MemberKey, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('data_group_member')
    .values({
      site_id: tx.siteId,
      group_name: member.groupName,
      user_pool_id: member.userPoolId,
      sub: member.sub,
      added_at: now,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** Whether they were one. */
export async function deleteMember(tx: SiteTx, member: MemberKey): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('data_group_member')
    .where('site_id', '=', tx.siteId)
    .where('group_name', '=', member.groupName)
    .where('user_pool_id', '=', member.userPoolId)
    .where('sub', '=', member.sub)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
