import { invalid, notFound } from '#base/app-error.ts'
import { inUse } from '#base/in-use.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import { type PermissionsSync, permissionsSyncOf } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import { parseShape } from '#runtime/shape.ts'
import type { Site } from '#sites/site.ts'

import { operationChange, operationDetail } from './audit-detail.ts'
import {
  type AuthRule,
  MAX_OPERATIONS,
  type Operation,
  type OperationBinding,
  PutOperation,
  parseOperation,
  sameBinding,
  scopesOfRule,
} from './model.ts'
import type { PresetBinding } from './preset-binding.ts'
import { checkPresetResource } from './preset-rules.ts'
import {
  bumpVersion,
  countOperations,
  deleteOperation,
  renameGroupOfOperations,
  renameOperation,
  selectOperation,
  selectOperationPage,
  selectOperations,
  selectOperationsForGroup,
  selectOperationsOf,
  selectSchemaBytes,
  selectVersions,
  upsertOperation,
} from './queries.ts'
import { MAX_SITE_SCHEMA_BYTES, schemaBytes } from './schemas/json-schema.ts'

/** The kept answers of operations, as the control plane needs them. */
export interface OperationCaches {
  /** Runs `change`, which gives the operation its next version, then drops what it answered before and says how many answers were alive. */
  invalidateAfter(site: Site, operation: string, change: () => Promise<string>): Promise<number>
}

export interface ChangedOperation {
  readonly operation: Operation
  readonly permissionsSync: PermissionsSync
}

/** The groups of a site's visitors, as operations name them. */
interface GroupNames {
  /** Those of these names that no group has. The others stay until the transaction ends. */
  missing(tx: SiteTx, names: readonly string[]): Promise<string[]>
}

/** The scopes that a site's applications may ask for, as operations name them. */
export interface ScopeNames {
  /** Those of these names that no scope has. */
  missingScopes(tx: SiteTx, names: readonly string[]): Promise<string[]>
}

interface OperationsDeps extends Pick<PlatformServices, 'database' | 'notifications' | 'clock'> {
  readonly revisions: Revisions
  readonly resources: Pick<Resources, 'find'>
  readonly caches: OperationCaches
  readonly groups: GroupNames
  readonly scopes: ScopeNames
  /** Names of the jobs that call an operation; none is added until the transaction ends. */
  jobsCalling(tx: SiteTx, operation: string): Promise<string[]>
}

/** What a site's visitors can call, by name. */
export class Operations {
  readonly #deps: OperationsDeps

  constructor(deps: OperationsDeps) {
    this.#deps = deps
  }

  /** Creates the operation, or overwrites it and drops its cache. */
  async put(site: Site, input: PutOperation, audit: SiteAudit): Promise<ChangedOperation> {
    const binding = parseOperation(parseShape(PutOperation, input))
    const { promise: changed, resolve } = Promise.withResolvers<ChangedOperation>()
    await this.#deps.caches.invalidateAfter(site, binding.operation, () =>
      this.#deps.database.withSite(site.siteId, async (tx) => {
        const state = await this.#deps.revisions.request(tx)
        const operation = await this.write(tx, binding, { audit })
        tx.onCommit(() => resolve({ operation, permissionsSync: permissionsSyncOf(state) }))
        return operation.version
      }),
    )
    return changed
  }

  /** Expects a caller that has requested the revision and deletes `toDelete` others itself. */
  async write(
    tx: SiteTx,
    binding: OperationBinding,
    { audit, toDelete = 0 }: { readonly audit: SiteAudit; readonly toDelete?: number },
  ): Promise<Operation> {
    const current = await selectOperation(tx, binding.operation)
    if (!current && (await countOperations(tx)) - toDelete >= MAX_OPERATIONS) {
      throw invalid('operation', `a site holds at most ${MAX_OPERATIONS} operations`)
    }
    await this.#checkFunction(tx, binding.lambdaResourceId)
    await this.#checkPreset(tx, binding.preset)
    await this.#checkGroups(tx, binding.auth)
    await this.#checkScopes(tx, binding.auth)
    await this.#checkSchemas(tx, binding)
    const operation = await upsertOperation(tx, binding, this.#deps.clock.now())
    await this.#announce(tx, operation.operation, operation.version)
    if (!current) {
      await audit(tx, { event: 'operation.created', detail: operationDetail(binding) })
    } else if (!sameBinding(current, binding)) {
      await audit(tx, { event: 'operation.changed', detail: operationChange(current, binding) })
    }
    return operation
  }

  /** Expects a caller that has locked the site and asks for the revision. Its jobs follow; its kept answers do not. */
  async rename(
    tx: SiteTx,
    names: { readonly from: string; readonly to: string },
    audit: SiteAudit,
  ): Promise<void> {
    await renameOperation(tx, names, this.#deps.clock.now())
    const detail = { operation: names.to, operationBefore: names.from }
    await audit(tx, { event: 'operation.changed', detail })
  }

  /** As the group that they are for is renamed. */
  renameGroup(tx: SiteTx, names: { readonly from: string; readonly to: string }): Promise<void> {
    return renameGroupOfOperations(tx, names)
  }

  remove(siteId: string, operation: string, audit: SiteAudit): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.#deps.revisions.request(tx)
      if (!(await this.delete(tx, operation, audit))) throw notFound('Operation', operation)
    })
  }

  /** Expects a caller that has requested the revision. Returns false when there is no such operation; 409 while a job calls it. */
  async delete(tx: SiteTx, operation: string, audit: SiteAudit): Promise<boolean> {
    const jobs = await this.#deps.jobsCalling(tx, operation)
    if (jobs.length > 0) throw inUse(`Operation "${operation}" is called by`, 'job', jobs)
    const deleted = await deleteOperation(tx, operation)
    if (!deleted) return false
    await audit(tx, { event: 'operation.deleted', detail: operationDetail(deleted) })
    return true
  }

  /** Drops the operation's kept answers and says how many were alive. */
  invalidate(site: Site, operation: string): Promise<number> {
    return this.#deps.caches.invalidateAfter(site, operation, () =>
      this.#deps.database.withSite(site.siteId, async (tx) => {
        const version = await bumpVersion(tx, operation)
        if (version === undefined) throw notFound('Operation', operation)
        await this.#announce(tx, operation, version)
        return version
      }),
    )
  }

  find(tx: SiteTx, operation: string): Promise<Operation | undefined> {
    return selectOperation(tx, operation)
  }

  /** All of them by name; there are at most 500. */
  all(tx: SiteTx): Promise<Operation[]> {
    return selectOperations(tx)
  }

  async page(tx: SiteTx, page: PageRequest): Promise<PageRows<Operation>> {
    return pageRows(await selectOperationPage(tx, page), page.limit, ({ operation }) => operation)
  }

  /** Names of the operations that depend on a resource, whether as their function or through a preset. */
  usingResource(tx: SiteTx, resourceId: string): Promise<string[]> {
    return selectOperationsOf(tx, resourceId)
  }

  /** Names of the operations that only certain groups may call, the given one among them. */
  forGroup(tx: SiteTx, groupName: string): Promise<string[]> {
    return selectOperationsForGroup(tx, groupName)
  }

  /** The version of every operation of the site, by name. */
  versions(tx: SiteTx): Promise<ReadonlyMap<string, string>> {
    return selectVersions(tx)
  }

  #announce(tx: SiteTx, operation: string, version: string): Promise<void> {
    return this.#deps.notifications.notify(tx, 'croft_cache', {
      siteId: tx.siteId,
      operation,
      version,
    })
  }

  async #checkPreset(tx: SiteTx, preset: PresetBinding | null): Promise<void> {
    if (preset === null || preset.resourceId === null) return
    checkPresetResource(preset, await this.#deps.resources.find(tx, preset.resourceId))
  }

  async #checkGroups(tx: SiteTx, auth: AuthRule): Promise<void> {
    if (auth.mode !== 'groups') return
    const [missing] = await this.#deps.groups.missing(tx, auth.groups)
    if (missing === undefined) return
    const field = `auth.groups[${auth.groups.indexOf(missing)}]`
    throw invalid(field, `group "${missing}" does not exist: create it first`)
  }

  async #checkScopes(tx: SiteTx, auth: AuthRule): Promise<void> {
    const names = scopesOfRule(auth)
    if (names.length === 0) return
    const [missing] = await this.#deps.scopes.missingScopes(tx, names)
    if (missing === undefined) return
    const field = `auth.scopes[${names.indexOf(missing)}]`
    throw invalid(
      field,
      `scope "${missing}" does not exist: the operator defines it (croft auth set)`,
    )
  }

  async #checkSchemas(tx: SiteTx, { operation, input, output }: OperationBinding): Promise<void> {
    const added = schemaBytes(input) + schemaBytes(output)
    if (added === 0) return
    const total = added + (await selectSchemaBytes(tx, operation))
    if (total <= MAX_SITE_SCHEMA_BYTES) return
    throw invalid(
      input === null ? 'output' : 'input',
      `the schemas of all operations of a site have at most ${MAX_SITE_SCHEMA_BYTES} bytes together, with this one ${total}`,
    )
  }

  async #checkFunction(tx: SiteTx, resourceId: string | null): Promise<void> {
    if (resourceId === null) return
    const resource = await this.#deps.resources.find(tx, resourceId)
    if (!resource) throw invalid('lambdaResourceId', `resource "${resourceId}" does not exist`)
    if (resource.type !== 'lambdaFunction') {
      throw invalid('lambdaResourceId', `"${resource.name}" is a ${resource.type}, not a function`)
    }
  }
}
