import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { PageTokens } from '#base/page.ts'
import type { Egress } from '#platform/egress/egress.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { ObjectUrls } from '#platform/objects/object-urls.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { type BucketServices, openBuckets } from './buckets/open-buckets.ts'
import { OperationCalls } from './calls/operation-calls.ts'
import { OperationRuns } from './calls/operation-runs.ts'
import { PresetRuns } from './calls/presets/preset-runs.ts'
import { PublishedCaches } from './calls/published-caches.ts'
import { ResponseCache } from './calls/response-cache.ts'
import { serveCleanup } from './cleanup/resource-cleanup.ts'
import { Compute } from './compute/service.ts'
import type { GroupDirectory } from './definitions/sections/groups.ts'
import { Redaction } from './env-vars/redaction.ts'
import { EnvVars } from './env-vars/service.ts'
import type { Invoke } from './host-calls/nested-calls.ts'
import { HostCalls } from './host-calls/service.ts'
import type { SiteMail } from './host-calls/site-mail.ts'
import { type Iac, openIac } from './iac/open-iac.ts'
import { type JobServices, openJobs } from './jobs/open-jobs.ts'
import type { RunVisitors } from './jobs/run-worker.ts'
import { RuntimeLogs } from './logs/service.ts'
import { Operations } from './operations/service.ts'
import { PermissionSync, type SyncSources } from './permission-sync/service.ts'
import { Published } from './published/service.ts'
import { Resources } from './resources/service.ts'
import { runtimeLimits } from './revisions/limits.ts'
import { Revisions } from './revisions/service.ts'
import { RuntimeLifecycle } from './runtime-lifecycle.ts'
import { type TableServices, openTables } from './tables/open-tables.ts'
import { RuntimeUsage } from './usage/service.ts'

export interface RuntimeDeps {
  readonly database: Database
  readonly notifications: Notifications
  readonly queue: Queue
  readonly sharedCache: SharedCache
  readonly counters: Counters
  readonly egress: Egress
  readonly clock: Clock
  readonly ids: Ids
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'derive'>
  readonly siteKeys: SiteKeys
  readonly logger: Logger
  readonly pageTokens: PageTokens
  readonly objects: ObjectStore
  readonly objectUrls: Pick<ObjectUrls, 'sign'>
  /** What functions send. */
  readonly siteMail: SiteMail
  /** Asked after the runtime stands, so it may close over what is built later. */
  readonly sources: SyncSources
  /** Of the site's visitors, which definitions may name. */
  readonly groups: GroupDirectory
  /** Whom jobs run as. */
  readonly visitors: RunVisitors
  /** 404 when it is gone. */
  readonly siteOf: (siteId: string) => Promise<Site>
  readonly openSandbox: (environment: SandboxEnvironment) => Promise<Sandbox>
}

/** The data runtime of all sites. Disposing it writes its last counts and lines; the sandbox goes down first. */
export interface Runtime extends BucketServices, Iac, JobServices, TableServices, AsyncDisposable {
  readonly parts: RuntimeLifecycle
  readonly resources: Resources
  readonly operations: Operations
  readonly operationCalls: OperationCalls
  readonly compute: Compute
  readonly envVars: EnvVars
  readonly permissionSync: PermissionSync
  readonly runtimeLogs: RuntimeLogs
  readonly runtimeUsage: RuntimeUsage
  readonly sandbox: Sandbox
}

/** Builds the runtime, starts its sandbox, listens, and puts the permission sync behind its queue. */
export async function openRuntime(deps: RuntimeDeps): Promise<Runtime> {
  const serving = await openServing(deps, (call) => operationCalls.invoke(call))
  const { published, sandbox, runtimeLogs, runtimeUsage } = serving
  const cache = new ResponseCache({ shared: deps.sharedCache, now: serving.now })
  const control = { ...deps, ...serving, caches: new PublishedCaches({ published, cache }) }
  const { tableLayouts, tableQuotas } = serving.tableParts
  const resources = new Resources({ ...control, layouts: tableLayouts })
  const operations = new Operations({ ...control, resources })
  const permissionSync = new PermissionSync({ ...control, resources, operations })
  permissionSync.serve(deps.queue)
  serveCleanup(deps.queue, {
    ddbTable: serving.tableParts.dropTable,
    s3Bucket: serving.bucketParts.dropBucket,
  })
  await published.listen(deps.notifications)
  await runtimeLogs.listen(deps.notifications)
  const presets = new PresetRuns({
    tables: serving.tables,
    buckets: serving.bucketParts.buckets,
    tokenKey: deps.sealer.derive('preset-page-tokens'),
  })
  const runs = new OperationRuns({ ...serving, presets })
  const operationCalls = new OperationCalls({ ...serving, cache, runs })
  const jobParts = openJobs({ ...deps, runtimeLogs, operationCalls })
  const iac = openIac({ ...control, resources, operations, jobs: jobParts.jobs })
  return {
    parts: new RuntimeLifecycle({ ...control, ...iac }),
    resources,
    operations,
    operationCalls,
    ...jobParts,
    ...iac,
    compute: new Compute({ ...serving, usage: runtimeUsage }),
    envVars: serving.envVars,
    ...serving.tableParts,
    ...serving.bucketParts,
    permissionSync,
    runtimeLogs,
    runtimeUsage,
    sandbox,
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
      await tableQuotas[Symbol.asyncDispose]()
      await runtimeUsage[Symbol.asyncDispose]()
      await runtimeLogs[Symbol.asyncDispose]()
    },
  }
}

/** What calls are served from: the current revision in memory, the sandbox, and what is kept of both. */
async function openServing(deps: RuntimeDeps, invoke: Invoke) {
  const now = () => deps.clock.now().getTime()
  const settingsOf = (siteId: string) => deps.sources.settings(siteId)
  const redaction = new Redaction({ now, forgotten: (siteId) => published.forget(siteId) })
  const redact = (siteId: string, text: string) => redaction.redact(siteId, text)
  const runtimeLogs = new RuntimeLogs({ ...deps, redact })
  const runtimeUsage = new RuntimeUsage({
    ...deps,
    standingOf: async (siteId) => {
      const { limits } = await settingsOf(siteId)
      return {
        limits: runtimeLimits(limits),
        loadedRevision: published.peek(siteId)?.revision ?? null,
        sandboxReady: sandbox.status().ready,
      }
    },
  })
  const revisions = new Revisions(deps)
  const envVars = new EnvVars({ ...deps, revisions })
  const tableParts = openTables(deps)
  const { tables } = tableParts
  const bucketParts = openBuckets(deps)
  // The sandbox asks for host calls and the published site retires isolates: neither happens before both stand.
  const published = new Published({
    ...deps,
    revisions,
    envVars,
    redaction,
    retire: (programKey) => sandbox.retire(programKey),
  })
  const { buckets } = bucketParts
  const asked = { published, settingsOf, tables, buckets, mail: deps.siteMail, invoke }
  const hostCalls = new HostCalls({ ...deps, ...asked })
  const sandbox: Sandbox = await deps.openSandbox({
    hostCall: (call) => hostCalls.answer(call),
    log: (lines) => runtimeLogs.console(lines),
  })
  const records = { runtimeLogs, runtimeUsage, redact }
  return {
    now,
    settingsOf,
    revisions,
    envVars,
    tables,
    tableParts,
    bucketParts,
    published,
    sandbox,
    ...records,
  }
}
