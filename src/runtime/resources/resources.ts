import { AppError, invalid, notFound } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { inUse } from '#base/in-use.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { AccountStatusKey } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { FunctionGuard } from '#runtime/functions/function-guard.ts'
import { type PermissionsSync, permissionsSyncOf } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'

import { parseConfig, patchConfig } from './config.ts'
import {
  type ContentsOf,
  type ResourceContents,
  countedOfEach,
  unconfirmedDeletion,
} from './contents.ts'
import { functionsIn, inlineCodeOf, loadsAlike } from './function-parts.ts'
import {
  MAX_RESOURCES,
  type NewResource,
  type Resource,
  type ResourceName,
  type ResourcePatch,
  type TypedConfig,
  MAX_INLINE_CODE_BYTES,
} from './model.ts'
import {
  type AccountStatusAndResource,
  countResources,
  deleteResource,
  insertResource,
  lockResource,
  readResource,
  readAccountStatusAndResource,
  selectFunctionsVersion,
  selectGrantees,
  selectResource,
  selectResourceByName,
  selectResourceNames,
  selectResourcePage,
  selectResources,
  updateResource,
  selectCodeBytes,
} from './queries.ts'

export interface ChangedResource {
  readonly resource: Resource
  readonly permissionsSync: PermissionsSync
}

/** A resource that is to be there once the others of `toDelete` are gone, which the caller deletes. */
export interface WantedResource {
  readonly name: string
  readonly typed: TypedConfig
  readonly toDelete: ReadonlySet<string>
}

/** How a resource is replaced. */
interface ResourceReplacement {
  /** Names of the fields that change, for the audit trail. */
  readonly changed: string
  readonly audit: SiteAudit
  readonly toDelete?: ReadonlySet<string>
}

/** The definitions of a site's tables, buckets and functions. */
export class Resources {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'disk'> & {
      readonly revisions: Revisions
      readonly functionGuard: FunctionGuard
      /** What the rows of tables have to know of their definitions: called in the transaction that writes one. */
      readonly layouts: {
        define(tx: SiteTx, tableId: string, schema: TableConfig): Promise<void>
      }
      /** Names of the operations that depend on a resource. */
      operationsUsing(tx: SiteTx, resourceId: string): Promise<string[]>
      readonly contentsOf: ContentsOf
      readonly clock: Clock
      readonly ids: Ids
    },
  ) {
    this.#deps = deps
  }

  /** 400 `InvalidCode` for a function that does not load. */
  async create(siteId: string, input: NewResource, audit: SiteAudit): Promise<ChangedResource> {
    this.#deps.disk.check('database')
    const { name } = input
    const typed = parseConfig(input.type, input.config)
    return this.#deps.functionGuard.write(siteId, functionsIn(name, typed), async (tx) => {
      const state = await this.#deps.revisions.request(tx)
      const resource = await this.add(tx, { name, typed, toDelete: NONE }, audit)
      return { resource, permissionsSync: permissionsSyncOf(state) }
    })
  }

  /** 400 `InvalidCode` for a function that would not load. */
  async update(
    siteId: string,
    resourceId: string,
    patch: ResourcePatch,
    audit: SiteAudit,
  ): Promise<ChangedResource> {
    this.#deps.disk.check('database')
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const changed = await this.#update(siteId, resourceId, patch, audit)
      if (changed) return changed
    }
    throw new AppError(
      'ServiceUnavailable',
      `Resource "${resourceId}" is being changed by others: try again`,
      { retryAfterSeconds: 1 },
    )
  }

  /** Undefined when another request has changed the function since its code was checked. */
  async #update(
    siteId: string,
    resourceId: string,
    patch: ResourcePatch,
    audit: SiteAudit,
  ): Promise<ChangedResource | undefined> {
    const before = await this.get(siteId, resourceId)
    const patched = (current: Resource): TypedConfig =>
      patch.config === undefined ? current : patchConfig(current, patch.config)
    const sent = patched(before)
    const functions = loadsAlike(before, sent) ? [] : functionsIn(before.name, sent)
    return this.#deps.functionGuard.write(siteId, functions, async (tx) => {
      const state = await this.#deps.revisions.request(tx)
      const current = await lockResource(tx, resourceId)
      if (!current) throw notFound('Resource', resourceId)
      const typed = patched(current)
      if (!loadsAlike(typed, sent)) return undefined
      const name = patch.name ?? current.name
      const changed = Object.keys(patch).join(' ')
      const resource = await this.replace(tx, { ...current, name }, typed, { changed, audit })
      return { resource, permissionsSync: permissionsSyncOf(state) }
    })
  }

  /** 400 `ConfirmationRequired` for a table or bucket that holds something, unless that was agreed to. */
  remove(
    siteId: string,
    resourceId: string,
    { confirmed }: { readonly confirmed: boolean },
    audit: SiteAudit,
  ): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.#deps.revisions.request(tx)
      await this.#refuseUsed(tx, resourceId)
      if (!confirmed) await this.#refuseUnlessEmpty(tx, resourceId)
      if (!(await this.delete(tx, resourceId, audit))) throw notFound('Resource', resourceId)
    })
  }

  async get(siteId: string, resourceId: string): Promise<Resource> {
    const resource = await readResource(this.#deps.database, siteId, resourceId)
    if (!resource) throw notFound('Resource', resourceId)
    return resource
  }

  /** A resource, and the current state of the caller. Undefined when the account is gone. */
  getWithAccountStatus(
    siteId: string,
    subject: AccountStatusKey & { readonly resourceId: string },
  ): Promise<AccountStatusAndResource | undefined> {
    return readAccountStatusAndResource(this.#deps.database, siteId, subject)
  }

  /** All of them by name; there are at most 500. */
  all(tx: SiteTx): Promise<Resource[]> {
    return selectResources(tx)
  }

  async page(tx: SiteTx, page: PageRequest): Promise<PageRows<Resource>> {
    return pageRows(await selectResourcePage(tx, page), page.limit, ({ name }) => name)
  }

  find(tx: SiteTx, resourceId: string): Promise<Resource | undefined> {
    return selectResource(tx, resourceId)
  }

  findByName(tx: SiteTx, name: string): Promise<Resource | undefined> {
    return selectResourceByName(tx, name)
  }

  /** Changes when any function of the site does, or one comes or goes. */
  functionsVersion(tx: SiteTx): Promise<string> {
    return selectFunctionsVersion(tx)
  }

  /** Names all resources, or those with these names; without their configs, which may be long. */
  names(tx: SiteTx, called?: readonly string[]): Promise<ResourceName[]> {
    return selectResourceNames(tx, called)
  }

  /** Expects a caller that has requested the revision. Returns false when there is no such resource; 409 while something uses it. */
  async delete(tx: SiteTx, resourceId: string, audit: SiteAudit): Promise<boolean> {
    await this.#refuseUsed(tx, resourceId)
    const deleted = await deleteResource(tx, resourceId)
    if (!deleted) return false
    const { type } = deleted
    if (type === 'ddbTable' || type === 's3Bucket') {
      const { siteId } = tx
      const job = { siteId, type, resourceId }
      await this.#deps.queue.enqueue(tx, 'resource-cleanup', job, { singletonKey: resourceId })
    }
    await audit(tx, { event: 'resource.deleted', detail: auditDetail(deleted) })
    return true
  }

  /** What each of these tables and buckets holds, by name; of many, each is counted less far. */
  async contents(
    tx: SiteTx,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, ResourceContents>> {
    const contents = new Map<string, ResourceContents>()
    const resources = await selectResourceNames(tx, names)
    const most = countedOfEach(resources.length)
    for (const resource of resources) {
      contents.set(resource.name, await this.#deps.contentsOf(tx, resource, most))
    }
    return contents
  }

  /** Expects a caller that has requested the revision, and found that the function loads. */
  async add(
    tx: SiteTx,
    { name, typed, toDelete }: WantedResource,
    audit: SiteAudit,
  ): Promise<Resource> {
    if ((await countResources(tx)) - toDelete.size >= MAX_RESOURCES) {
      throw invalid('name', `a site holds at most ${MAX_RESOURCES} resources: delete one first`)
    }
    await this.#checkGrants(tx, typed)
    const resourceId = this.#deps.ids.named('res')
    const now = this.#deps.clock.now()
    const resource = await insertResource(tx, { ...typed, resourceId, name }, now)
    await this.#define(tx, resource, toDelete)
    await audit(tx, { event: 'resource.created', detail: auditDetail(resource) })
    return resource
  }

  async rename(tx: SiteTx, current: Resource, name: string, audit: SiteAudit): Promise<void> {
    const resource = await updateResource(tx, { ...current, name }, this.#deps.clock.now())
    const detail = { ...auditDetail(resource), nameBefore: current.name, changed: 'name' }
    await audit(tx, { event: 'resource.changed', detail })
  }

  /** Does as `add` for a resource that exists; its type and keys never change. */
  async replace(
    tx: SiteTx,
    { resourceId, name }: Pick<Resource, 'resourceId' | 'name'>,
    typed: TypedConfig,
    { audit, changed, toDelete = NONE }: ResourceReplacement,
  ): Promise<Resource> {
    await this.#checkGrants(tx, typed)
    const now = this.#deps.clock.now()
    const resource = await updateResource(tx, { ...typed, resourceId, name }, now)
    await this.#define(tx, resource, toDelete)
    await audit(tx, { event: 'resource.changed', detail: { ...auditDetail(resource), changed } })
    return resource
  }

  async #refuseUsed(tx: SiteTx, resourceId: string): Promise<void> {
    const relation = `Resource "${resourceId}" is used by`
    const operations = await this.#deps.operationsUsing(tx, resourceId)
    if (operations.length > 0) throw inUse(relation, 'operation', operations)
    const functions = await selectGrantees(tx, resourceId)
    if (functions.length > 0) throw inUse(relation, 'function', functions)
  }

  async #refuseUnlessEmpty(tx: SiteTx, resourceId: string): Promise<void> {
    const resource = await selectResource(tx, resourceId)
    if (!resource) return
    const contents = await this.#deps.contentsOf(tx, resource, countedOfEach(1))
    const refusal = unconfirmedDeletion(resource, contents)
    if (refusal) throw refusal
  }

  async #define(tx: SiteTx, resource: Resource, toDelete: ReadonlySet<string>): Promise<void> {
    if (inlineCodeOf(resource) !== undefined) await checkCodeBytes(tx, toDelete)
    if (resource.type !== 'ddbTable') return
    await this.#deps.layouts.define(tx, resource.resourceId, resource.config)
  }

  async #checkGrants(tx: SiteTx, typed: TypedConfig): Promise<void> {
    if (typed.type !== 'lambdaFunction') return
    for (const [at, grant] of typed.config.resources.entries()) {
      const resource = await selectResource(tx, grant.resourceId)
      const field = `config.resources[${at}].resourceId`
      if (!resource) throw invalid(field, `resource "${grant.resourceId}" does not exist`)
      if (resource.type === 'lambdaFunction') {
        throw invalid(field, `"${resource.name}" is a function: grants are for tables and buckets`)
      }
    }
  }
}

/** Others that may change a function between the check of its code and its change. */
const MAX_ROUNDS = 5
const NONE: ReadonlySet<string> = new Set()

const auditDetail = ({
  resourceId,
  type,
  name,
}: Pick<Resource, 'resourceId' | 'type' | 'name'>) => ({ resourceId, type, name })

/** 400 when the functions of the site hold too much code, without those of `toDelete`. */
async function checkCodeBytes(tx: SiteTx, toDelete: ReadonlySet<string>): Promise<void> {
  const bytes = await selectCodeBytes(tx, toDelete)
  if (bytes <= MAX_INLINE_CODE_BYTES) return
  throw invalid(
    'config.code',
    `the functions of a site hold at most ${MAX_INLINE_CODE_BYTES} bytes of inline code together, and with this they would hold ${bytes}: deploy code as files and name those in "artifact"`,
  )
}
