import type { Actor } from '#base/actor.ts'
import { AppError, invalid, notFound } from '#base/app-error.ts'
import { inUse } from '#base/in-use.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { isStorable } from '#base/storable-text.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvent } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type DataGroup,
  type GroupMember,
  MAX_GROUPS,
  MAX_GROUPS_OF_USER,
  MAX_GROUP_CLAIM_BYTES,
  type NewDataGroup,
  parseGroup,
} from './model.ts'
import {
  type MemberKey,
  countGroups,
  deleteGroup,
  deleteMember,
  shareLockGroup,
  shareLockGroups,
  insertGroup,
  insertMember,
  lockGroup,
  lockVisitor,
  renameGroup,
  selectAllGroups,
  selectGroup,
  selectGroups,
  selectGroupsSize,
  selectMembers,
  updateGroup,
} from './queries.ts'

/** What depends on a group: the runtime knows. */
export interface GroupUses {
  /** Names of the operations that only certain groups may call, this one among them. */
  operationsFor(tx: SiteTx, groupName: string): Promise<readonly string[]>
  /** Has those operations name the group as it is called from now on. */
  renamed(tx: SiteTx, names: GroupNames): Promise<void>
}

export interface GroupNames {
  readonly from: string
  readonly to: string
}

/** A user in a group, or one to be added. */
export interface Membership {
  readonly groupName: string
  /** The visitor's address. */
  readonly username: string
}

/** The groups of a site's visitors. A change counts from its commit on, also for tokens that are out already. */
export class DataGroups {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly changes: AccountChanges
      readonly events: SecurityEvents
      readonly groupUses: GroupUses
    },
  ) {
    this.#deps = deps
  }

  /** By name. */
  async list(site: Site, page: PageRequest): Promise<PageRows<DataGroup>> {
    const rows = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectGroups(tx, { ...page, limit: page.limit + 1 }),
    )
    return pageRows(rows, page.limit, ({ groupName }) => groupName)
  }

  /** 409 `GroupAlreadyExists` for a name that is taken. */
  create(site: Site, input: NewDataGroup, by: Actor): Promise<DataGroup> {
    const group = parseGroup(input)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      await this.#add(tx, group, by)
      return group
    })
  }

  /** 409 `ResourceInUse` while an operation names the group: it would be closed to everyone. */
  remove(site: Site, groupName: string, by: Actor): Promise<void> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      if (!(await this.delete(tx, groupName, by))) throw notFound('Group', groupName)
    })
  }

  /** All of them by name, in the order of their bytes; there are at most 1000. */
  all(tx: SiteTx): Promise<DataGroup[]> {
    return selectAllGroups(tx)
  }

  /** Those of these names that no group has. The others stay until the transaction ends. */
  async missing(tx: SiteTx, names: readonly string[]): Promise<string[]> {
    const held = await shareLockGroups(tx, names.filter(isStorable))
    return names.filter((name) => !held.has(name))
  }

  /** Creates the group, or gives it that description. The caller deletes `toDelete` groups afterwards. */
  async put(
    tx: SiteTx,
    input: NewDataGroup,
    { by, toDelete }: { readonly by: Actor; readonly toDelete: number },
  ): Promise<'create' | 'update' | 'none'> {
    const group = parseGroup(input)
    const existing = await selectGroup(tx, group.groupName)
    if (existing?.description === group.description) return 'none'
    if (existing) {
      await updateGroup(tx, group)
      const detail = { groupName: group.groupName, changed: 'description' }
      const event = { event: 'group.changed', pool: 'data', by, detail } as const
      await this.#deps.events.record(tx, event)
      return 'update'
    }
    await this.#add(tx, group, by, toDelete)
    return 'create'
  }

  /** Its members stay in it, and operations that are for it are so under the new name. Expects a caller that has locked the site. */
  async rename(tx: SiteTx, names: GroupNames, by: Actor): Promise<void> {
    const { events, changes, groupUses } = this.#deps
    if (!(await renameGroup(tx, names))) return
    await groupUses.renamed(tx, names)
    const detail = { groupName: names.to, renamedFrom: names.from }
    await events.record(tx, { event: 'group.renamed', pool: 'data', by, detail })
    await changes.siteChanged(tx)
  }

  /** As `remove`, in the transaction of the caller. False when there is no such group. */
  async delete(tx: SiteTx, groupName: string, by: Actor): Promise<boolean> {
    const { events, changes, groupUses } = this.#deps
    // First: a writer that is about to name the group in an operation waits, or has done so.
    if (!isStorable(groupName) || !(await lockGroup(tx, groupName))) return false
    const operations = await groupUses.operationsFor(tx, groupName)
    if (operations.length > 0)
      throw inUse(`Group "${groupName}" is named by`, 'operation', operations)
    await deleteGroup(tx, groupName)
    await events.record(tx, { event: 'group.deleted', pool: 'data', by, detail: { groupName } })
    // One announcement for the site instead of one for each member.
    await changes.siteChanged(tx)
    return true
  }

  async members(site: Site, groupName: string, page: PageRequest): Promise<PageRows<GroupMember>> {
    const rows = await this.#deps.database.withSite(site.siteId, async (tx) => {
      await requireGroup(tx, groupName)
      return selectMembers(tx, groupName, { ...page, limit: page.limit + 1 })
    })
    return pageRows(rows, page.limit, ({ sub }) => sub)
  }

  /** Adding twice is fine. Gives the visitor's address as it is stored. */
  addMember(site: Site, membership: Membership, by: Actor): Promise<string> {
    return this.#changeMember(site, membership, async (tx, member) => {
      if (!(await insertMember(tx, member, this.#deps.clock.now()))) return undefined
      await requireWithinLimits(tx, member)
      return { event: 'group.member-added', by }
    })
  }

  /** Removing someone who is no member is fine. Gives the visitor's address as it is stored. */
  removeMember(site: Site, membership: Membership, by: Actor): Promise<string> {
    return this.#changeMember(site, membership, async (tx, member) =>
      (await deleteMember(tx, member)) ? { event: 'group.member-removed', by } : undefined,
    )
  }

  async #add(tx: SiteTx, group: DataGroup, by: Actor, toDelete = 0): Promise<void> {
    const { clock, events } = this.#deps
    if ((await countGroups(tx)) - toDelete >= MAX_GROUPS) {
      throw invalid('groupName', `a site holds at most ${MAX_GROUPS} groups`)
    }
    if (!(await insertGroup(tx, group, clock.now()))) throw groupExists(group.groupName)
    const detail = { groupName: group.groupName }
    await events.record(tx, { event: 'group.created', pool: 'data', by, detail })
  }

  /** `change` gives what there is to record, or nothing when it changed nothing. */
  async #changeMember(
    site: Site,
    { groupName, username }: Membership,
    change: (tx: SiteTx, member: MemberKey) => Promise<SecurityEvent | undefined>,
  ): Promise<string> {
    const { database, directory, events, changes } = this.#deps
    const { userPoolId } = (await directory.get(site)).data
    return database.withSite(site.siteId, async (tx) => {
      await requireGroup(tx, groupName)
      const { sub, email } = await requireVisitor(tx, userPoolId, username)
      const event = await change(tx, { groupName, userPoolId, sub })
      if (!event) return email
      await events.record(tx, { ...event, pool: 'data', sub, email, detail: { groupName } })
      await changes.userChanged(tx, sub)
      return email
    })
  }
}

async function requireGroup(tx: SiteTx, groupName: string): Promise<void> {
  if (!isStorable(groupName) || !(await shareLockGroup(tx, groupName))) {
    throw notFound('Group', groupName)
  }
}

async function requireVisitor(tx: SiteTx, userPoolId: string, username: string) {
  const email = canonicalEmail(username)
  const visitor = isStorable(email) ? await lockVisitor(tx, userPoolId, email) : undefined
  if (!visitor) throw notFound('User', username)
  return visitor
}

/** After the insert, which the throw rolls back. */
async function requireWithinLimits(tx: SiteTx, member: MemberKey): Promise<void> {
  const { count, bytes } = await selectGroupsSize(tx, member)
  if (count <= MAX_GROUPS_OF_USER && bytes <= MAX_GROUP_CLAIM_BYTES) return
  throw invalid(
    'username',
    `would be in more groups than a token can name: at most ${MAX_GROUPS_OF_USER}, whose names have ${MAX_GROUP_CLAIM_BYTES} bytes together`,
  )
}

const groupExists = (groupName: string): AppError =>
  new AppError('GroupAlreadyExists', `There is a group "${groupName}" already`)
