import { AppError } from '#base/app-error.ts'
import type { PageRequest, PageRows } from '#base/page.ts'
import type { DataGroups } from '#identity/groups/data-groups.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { PreparedFunction } from '#platform/sandbox-host/sandbox.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import type { FunctionChecks, FunctionWorld } from '#runtime/functions/function-checks.ts'
import type { FunctionSources } from '#runtime/functions/function-guard.ts'
import type { RuntimeLogs } from '#runtime/logs/runtime-logs.ts'
import type { Operation } from '#runtime/operations/model.ts'
import type { Operations } from '#runtime/operations/service.ts'
import {
  parseRevision,
  type RevisionDocument,
  type RevisionFunction,
} from '#runtime/published/revision-document.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import type { FunctionResource, Resource } from '#runtime/resources/model.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import {
  type PermissionsSync,
  type SyncState,
  permissionsSyncOf,
} from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import {
  missingGroups,
  missingVariables,
  compile,
  emptyRevision,
  faultSummary,
  isPublishedAs,
} from './compile.ts'

/** Changes that keep arriving while a sync runs are followed this often before the queue takes over again. */
const MAX_ROUNDS = 5

const START: Cursor = { resources: undefined, operations: undefined }
const NOTHING: PageRows<never> = { items: [], lastKey: undefined }

export interface ControlPlaneOverview extends ControlPlanePage {
  readonly permissionsSync: PermissionsSync
}

/** Most of a sync is waiting for its sources to be read. A second one of a site would wait for the first to end. */
const SYNC_PLACES = { concurrency: 6, perSite: 1, oneEach: 2 }

interface ControlPlanePage {
  readonly resources: readonly Resource[]
  readonly operations: readonly Operation[]
  /** Of both lists; undefined at the end of both. */
  readonly lastKey: string | undefined
}

interface ControlPlaneLists {
  resources(page: PageRequest): Promise<PageRows<Resource>>
  operations(page: PageRequest): Promise<PageRows<Operation>>
}

/** Where each list goes on; null for one that has been seen to its end. */
type Cursor = Record<keyof ControlPlaneLists, string | null | undefined>

type ControlPlaneList<Row> = (page: PageRequest) => Promise<PageRows<Row>>

/** Compiles what a site's control plane says into its next revision. */
export class PermissionSync {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'logger'> & {
      readonly revisions: Revisions
      readonly resources: Resources
      readonly operations: Operations
      readonly groups: Pick<DataGroups, 'all'>
      readonly envVars: EnvVars
      readonly runtimeLogs: RuntimeLogs
      readonly sources: FunctionSources
      readonly published: PublishedSites
      readonly functionChecks: FunctionChecks
    },
  ) {
    this.#deps = deps
  }

  /** Puts the sync behind its queue; call before the queue runs. */
  serve(queue: Queue): void {
    queue.handle('permission-sync', ({ siteId }, signal) => this.run(siteId, signal), SYNC_PLACES)
  }

  /** Publishes the revision of a new site, with nothing in it, in the transaction that creates the site. */
  async publishFirst(tx: SiteTx): Promise<void> {
    const { settings } = await this.#deps.sources.site(tx)
    await this.#deps.revisions.publishFirst(tx, emptyRevision(settings))
  }

  /** Queues a new revision whether or not anything changed. */
  reconcile(siteId: string): Promise<PermissionsSync> {
    return this.#deps.database.withSite(siteId, async (tx) =>
      permissionsSyncOf(await this.#deps.revisions.request(tx)),
    )
  }

  /** A page of what the control plane says now, and how far its sync has come, read at one moment. */
  async overview(siteId: string, page: PageRequest): Promise<ControlPlaneOverview> {
    const { state, ...found } = await this.#deps.database.withSite(siteId, async (tx) => ({
      state: await this.#deps.revisions.state(tx),
      ...(await pageOfBoth(page, {
        resources: (from) => this.#deps.resources.page(tx, from),
        operations: (from) => this.#deps.operations.page(tx, from),
      })),
    }))
    return { ...found, permissionsSync: await this.#syncStatus(siteId, state) }
  }

  async statusOf(siteId: string): Promise<PermissionsSync> {
    const state = await this.#deps.database.withSite(siteId, (tx) => this.#deps.revisions.state(tx))
    return this.#syncStatus(siteId, state)
  }

  /** Brings the site's revision up to its last change. Idempotent: with nothing to do it does nothing. */
  async run(siteId: string, signal: AbortSignal): Promise<void> {
    try {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        signal.throwIfAborted()
        if (!(await this.#round(siteId))) return
      }
    } catch (error) {
      // At a drain the work is only put off: the queue gives it to the next worker.
      if (!signal.aborted) await this.#deps.revisions.fail(siteId, reasonOf(error))
      throw error
    }
  }

  /** Says that a sync succeeded only when this replica serves what it made. */
  async #syncStatus(siteId: string, state: SyncState | undefined): Promise<PermissionsSync> {
    await this.#deps.published.waitForRevision(siteId, state?.currentRevision ?? null)
    return permissionsSyncOf(state)
  }

  /** True when further changes are waiting. */
  async #round(siteId: string): Promise<boolean> {
    const deployedCode = this.#deps.sources.deployedCode()
    const work = await this.#deps.database.withSite(siteId, async (tx) => {
      const state = await this.#deps.revisions.begin(tx)
      if (!state) return undefined
      const env = await this.#deps.envVars.sealed(tx)
      return {
        synced: state.requested,
        resources: await this.#deps.resources.all(tx),
        operations: await this.#deps.operations.all(tx),
        groups: new Set((await this.#deps.groups.all(tx)).map(({ groupName }) => groupName)),
        env,
        values: await this.#deps.envVars.unseal(tx, env),
        site: await this.#deps.sources.site(tx),
        deployment: await deployedCode.current(tx),
        published: await this.#deps.revisions.current(tx),
      }
    })
    if (!work) return false
    const { site } = work
    const { activation } = work.deployment
    const files = await deployedCode.textsOf(siteId, work.deployment)
    const before = work.published && parseRevision(work.published)?.document
    const world = { files, env: work.values, site }
    const compiled = await compile(
      { ...work, files, settings: site.settings },
      (resource, published) => this.#load(siteId, { resource, published }, world),
      before,
    )
    const document = activation === null ? compiled.document : { ...compiled.document, activation }
    const error = faultSummary(compiled)
    if (error !== null) this.#deps.logger.warn({ siteId, error }, 'functions do not load')
    this.#warnMissing(siteId, document, work.groups)
    return this.#deps.revisions.publish(siteId, { synced: work.synced, document, error })
  }

  /** What was published before as it is now is not loaded again. */
  #load(
    siteId: string,
    {
      resource,
      published,
    }: { readonly resource: FunctionResource; readonly published: RevisionFunction | undefined },
    world: FunctionWorld,
  ): Promise<PreparedFunction> {
    const checked = { name: resource.name, field: undefined, config: resource.config }
    return this.#deps.functionChecks.load(siteId, checked, world, (modules) =>
      isPublishedAs(published, resource.config, modules),
    )
  }

  #warnMissing(siteId: string, document: RevisionDocument, groups: ReadonlySet<string>): void {
    const warn = (message: string) =>
      this.#deps.runtimeLogs.platform({ siteId, level: 'warn', message })
    for (const { functionName, names } of missingVariables(document)) {
      warn(
        `Function "${functionName}" names environment variables that are not set: ${names.join(', ')}`,
      )
    }
    for (const { operation, names } of missingGroups(document, groups)) {
      warn(
        `Operation "${operation}" is for groups that do not exist and have no members: ${names.join(', ')}`,
      )
    }
  }
}

/** What admins may read: only an AppError's words are meant for them. */
const reasonOf = (error: unknown): string =>
  error instanceof AppError
    ? `the revision could not be made: ${error.message}`
    : 'the revision could not be made because of a fault on our side; it is tried again'

/** As many of each list as the page asks for: both go on side by side, until both have ended. */
async function pageOfBoth(
  { limit, after }: PageRequest,
  lists: ControlPlaneLists,
): Promise<ControlPlanePage> {
  const cursor = after === undefined ? START : cursorOf(after)
  const from = <Row>(key: string | null | undefined, list: ControlPlaneList<Row>) =>
    key === null ? NOTHING : list({ limit, after: key })
  const resources = await from(cursor.resources, (page) => lists.resources(page))
  const operations = await from(cursor.operations, (page) => lists.operations(page))
  return {
    resources: resources.items,
    operations: operations.items,
    lastKey: keyOf(resources.lastKey, operations.lastKey),
  }
}

const keyOf = (resources: string | undefined, operations: string | undefined) =>
  resources === undefined && operations === undefined
    ? undefined
    : JSON.stringify([resources ?? null, operations ?? null])

/** The key is our own: a token is sealed. */
function cursorOf(key: string): Cursor {
  const [resources, operations] = JSON.parse(key) as [string | null, string | null]
  return { resources, operations }
}
