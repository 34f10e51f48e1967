import { invalid, notFound } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { inUse } from '#base/in-use.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { AccountStatusKey } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sandbox } from '#platform/sandbox-host/sandbox.ts'
import type { PlatformServices } from '#platform/services.ts'
import { type PermissionsSync, permissionsSyncOf } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/service.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'

import { parseConfig, patchConfig } from './config.ts'
import {
  type ContentsOf,
  type ResourceContents,
  countedOfEach,
  unconfirmedDeletion,
} from './contents.ts'
import { checkInlineCode, inlineCodeOf } from './function-code.ts'
import {
  MAX_INLINE_CODE_BYTES,
  MAX_RESOURCES,
  type NewResource,
  type Resource,
  type ResourceName,
  type ResourcePatch,
  type TypedConfig,
} from './model.ts'
import {
  type AccountStatusAndResource,
  countResources,
  deleteResource,
  insertResource,
  lockResource,
  readResource,
  readAccountStatusAndResource,
  selectCodeBytes,
  selectGrantees,
  selectResource,
  selectResourceByName,
  selectResourceNames,
  selectResourcePage,
  selectResources,
  updateResource,
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

interface ResourcesDeps extends Pick<PlatformServices, 'database' | 'queue'> {
  readonly revisions: Revisions
  readonly sandbox: Pick<Sandbox, 'prepare'>
  /** What the rows of tables have to know of their definitions: is told in the transaction that writes one. */
  readonly layouts: {
    define(tx: SiteTx, tableId: string, schema: TableConfig): Promise<void>
  }
  /** Names of the operations that stand on a resource. */
  operationsUsing(tx: SiteTx, resourceId: string): Promise<string[]>
  readonly contentsOf: ContentsOf
  readonly clock: Clock
  readonly ids: Ids
}

/** The definitions of a site's tables, buckets and functions. */
export class Resources {
  readonly #deps: ResourcesDeps

  constructor(deps: ResourcesDeps) {
    this.#deps = deps
  }

  async create(siteId: string, input: NewResource): Promise<ChangedResource> {
    const typed = parseConfig(input.type, input.config)
    await checkInlineCode(this.#deps.sandbox, siteId, typed)
    return this.#deps.database.withSite(siteId, async (tx) => {
      const state = await this.#deps.revisions.request(tx)
      const resource = await this.add(tx, { name: input.name, typed, toDelete: NONE })
      return { resource, permissionsSync: permissionsSyncOf(state) }
    })
  }

  async update(siteId: string, resourceId: string, patch: ResourcePatch): Promise<ChangedResource> {
    const before = await this.get(siteId, resourceId)
    const sent = patch.config === undefined ? before : patchConfig(before, patch.config)
    // Outside the transaction: it asks the sandbox.
    if (inlineCodeOf(sent) !== inlineCodeOf(before))
      await checkInlineCode(this.#deps.sandbox, siteId, sent)
    return this.#deps.database.withSite(siteId, async (tx) => {
      const state = await this.#deps.revisions.request(tx)
      const current = await lockResource(tx, resourceId)
      if (!current) throw notFound('Resource', resourceId)
      const typed = patch.config === undefined ? current : patchConfig(current, patch.config)
      const name = patch.name ?? current.name
      const resource = await this.replace(tx, { ...current, name }, typed)
      return { resource, permissionsSync: permissionsSyncOf(state) }
    })
  }

  /** 400 `ConfirmationRequired` for a table or bucket that holds something, unless that was agreed to. */
  remove(
    siteId: string,
    resourceId: string,
    { confirmed }: { readonly confirmed: boolean },
  ): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.#deps.revisions.request(tx)
      await this.#refuseUsed(tx, resourceId)
      if (!confirmed) await this.#refuseUnlessEmpty(tx, resourceId)
      if (!(await this.delete(tx, resourceId))) throw notFound('Resource', resourceId)
    })
  }

  async get(siteId: string, resourceId: string): Promise<Resource> {
    const resource = await readResource(this.#deps.database, siteId, resourceId)
    if (!resource) throw notFound('Resource', resourceId)
    return resource
  }

  /** A resource, and who asks for it as they stand now. Undefined when the account is gone. */
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

  /** Names all resources, or those with these names; without their configs, which may be long. */
  names(tx: SiteTx, called?: readonly string[]): Promise<ResourceName[]> {
    return selectResourceNames(tx, called)
  }

  /** Expects a caller that has requested the revision. Returns false when there is no such resource; 409 while something uses it. */
  async delete(tx: SiteTx, resourceId: string): Promise<boolean> {
    await this.#refuseUsed(tx, resourceId)
    const type = await deleteResource(tx, resourceId)
    if (type === 'ddbTable' || type === 's3Bucket') {
      const { siteId } = tx
      const job = { siteId, type, resourceId }
      await this.#deps.queue.enqueue(tx, 'resource-cleanup', job, { singletonKey: resourceId })
    }
    return type !== undefined
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

  /** Expects a caller that has requested the revision, and checked inline code. */
  async add(tx: SiteTx, { name, typed, toDelete }: WantedResource): Promise<Resource> {
    if ((await countResources(tx)) - toDelete.size >= MAX_RESOURCES) {
      throw invalid('name', `a site holds at most ${MAX_RESOURCES} resources: delete one first`)
    }
    await this.#checkGrants(tx, typed)
    const resourceId = this.#deps.ids.named('res')
    const now = this.#deps.clock.now()
    const resource = await insertResource(tx, { ...typed, resourceId, name }, now)
    await this.#define(tx, resource, toDelete)
    return resource
  }

  async rename(tx: SiteTx, current: Resource, name: string): Promise<void> {
    await updateResource(tx, { ...current, name }, this.#deps.clock.now())
  }

  /** Does as `add` for a resource that exists; its type and keys never change. */
  async replace(
    tx: SiteTx,
    { resourceId, name }: Pick<Resource, 'resourceId' | 'name'>,
    typed: TypedConfig,
    toDelete: ReadonlySet<string> = NONE,
  ): Promise<Resource> {
    await this.#checkGrants(tx, typed)
    const now = this.#deps.clock.now()
    const resource = await updateResource(tx, { ...typed, resourceId, name }, now)
    await this.#define(tx, resource, toDelete)
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

const NONE: ReadonlySet<string> = new Set()

async function checkCodeBytes(tx: SiteTx, toDelete: ReadonlySet<string>): Promise<void> {
  const bytes = await selectCodeBytes(tx, toDelete)
  if (bytes <= MAX_INLINE_CODE_BYTES) return
  throw invalid(
    'config.code',
    `the functions of a site hold at most ${MAX_INLINE_CODE_BYTES} bytes of inline code together, and with this they would hold ${bytes}: deploy code as files and name those in "artifact"`,
  )
}
