import type { Config } from '#config/config.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Egress } from '#platform/egress/egress.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Queue, QueueJobs } from '#platform/queue/queue.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Sandbox, SandboxEnvironment, SiteCalls } from '#platform/sandbox-host/sandbox.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Tracer } from '#platform/tracing/tracer.ts'
import { IdempotentAnswers } from '#sites/idempotency/idempotent-answers.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { type BucketServices, openBuckets } from './buckets/open-buckets.ts'
import { CallActivity } from './calls/call-activity.ts'
import { HttpCalls } from './calls/http/http-calls.ts'
import { OpenStreams } from './calls/http/open-streams.ts'
import { OperationCalls } from './calls/operation-calls.ts'
import { type CallOutcomes, OperationRunner } from './calls/operation-runner.ts'
import { PresetRunner } from './calls/presets/preset-runner.ts'
import { PublishedCaches } from './calls/published-caches.ts'
import { ResponseCache } from './calls/response-cache.ts'
import { Compute } from './compute/compute.ts'
import type { GroupDirectory } from './definitions/sections/groups.ts'
import { EnvVars } from './env-vars/env-vars.ts'
import { Redaction } from './env-vars/redaction.ts'
import { FunctionChecks } from './functions/function-checks.ts'
import { FunctionGuard, type FunctionSources } from './functions/function-guard.ts'
import { PreparedFunctionCache } from './functions/prepared-functions.ts'
import { HostCalls } from './host-calls/host-calls.ts'
import type { CallOperation } from './host-calls/nested-calls.ts'
import type { SiteMail } from './host-calls/site-mail.ts'
import { openIac } from './iac/open-iac.ts'
import type { DefinitionProfiles } from './iac/profiles.ts'
import type { IacJobs } from './iac/service.ts'
import type { IacSubmissions } from './iac/submissions.ts'
import { JobActivity } from './jobs/job-activity.ts'
import { type JobUsers, Jobs } from './jobs/jobs.ts'
import { RunAttempts } from './jobs/run-attempts.ts'
import { runLimits } from './jobs/run-limits.ts'
import { type RunVisitors, RunWorker } from './jobs/run-worker.ts'
import { JobRuns } from './jobs/runs.ts'
import { JobScheduler } from './jobs/scheduler.ts'
import { RuntimeLogs } from './logs/runtime-logs.ts'
import { Operations, type ScopeNames } from './operations/service.ts'
import { PermissionSync } from './permission-sync/permission-sync.ts'
import { OperationProfiles } from './profiles/operation-profiles.ts'
import { PublishedSites } from './published/service.ts'
import type { ContentsOf } from './resources/contents.ts'
import { Resources } from './resources/resources.ts'
import { type RuntimeLimits, runtimeLimits } from './revisions/limits.ts'
import { Revisions } from './revisions/revisions.ts'
import { RuntimeLifecycle } from './runtime-lifecycle.ts'
import type { SourceMaps } from './source-maps/source-maps.ts'
import { type TableServices, openTables } from './tables/open-tables.ts'
import { RuntimeUsage } from './usage/runtime-usage.ts'

/** Resources that are emptied at once: one full table or bucket does not hold up the others. */
const CLEANUP_WORKERS = 2

export interface RuntimeDeps extends PlatformServices {
  readonly config: Pick<Config, 'sandbox' | 'streams'>
  readonly sharedCache: SharedCache
  readonly counters: Counters
  readonly egress: Egress
  readonly requestTraces: Pick<RequestTraces, 'of'>
  readonly tracer: Tracer | undefined
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'derive'>
  readonly siteKeys: SiteKeys
  /** Sends the mail of functions. */
  readonly siteMail: SiteMail
  /** Is used only once the runtime is open, so it may close over what is built later. */
  readonly sources: FunctionSources
  readonly sourceMaps: SourceMaps
  readonly deploymentHealth: CallOutcomes
  /** The groups of a site's visitors, which definitions may name. */
  readonly groups: GroupDirectory
  readonly securityEvents: Pick<SecurityEvents, 'record'>
  /** What their applications may ask for, which operations may name. */
  readonly scopes: ScopeNames
  /** Finds the visitor that a job runs as. */
  readonly visitors: RunVisitors & JobUsers
  /** Rejects with `SiteNotFound` when the site is gone. */
  readonly siteOf: (siteId: string) => Promise<Site>
  /** From memory where it is there. */
  readonly siteByHost: (host: string) => Site | undefined | Promise<Site | undefined>
  readonly openSandbox: (environment: SandboxEnvironment) => Promise<Sandbox>
}

/** A site's limits and whether its calls would find it warm. */
interface RuntimeStatus {
  readonly limits: RuntimeLimits
  /** The revision that this replica has in memory; null when the next call loads it. */
  readonly loadedRevision: number | null
  readonly sandboxReady: boolean
  readonly calls: SiteCalls & { readonly openStreams: number }
}

/** The data runtime of all sites. Disposing it writes its last counts and lines; the sandbox goes down first. */
export interface Runtime extends BucketServices, TableServices, AsyncDisposable {
  readonly lifecycle: RuntimeLifecycle
  readonly resources: Resources
  readonly operations: Operations
  readonly operationCalls: OperationCalls
  readonly callActivity: CallActivity
  readonly responseCache: Pick<ResponseCache, 'lookups' | 'sizeBytes'>
  readonly httpCalls: HttpCalls
  readonly openStreams: OpenStreams
  readonly jobs: Jobs
  readonly jobRuns: JobRuns
  readonly jobScheduler: JobScheduler
  readonly jobActivity: JobActivity
  readonly iacJobs: IacJobs
  readonly iacSubmissions: IacSubmissions
  readonly definitionProfiles: DefinitionProfiles
  readonly compute: Compute
  readonly operationProfiles: OperationProfiles
  readonly envVars: EnvVars
  readonly permissionSync: PermissionSync
  readonly runtimeLogs: RuntimeLogs
  readonly runtimeUsage: RuntimeUsage
  readonly sandbox: Sandbox
  runtimeStatus(siteId: string): Promise<RuntimeStatus>
}

/** Builds the runtime, starts its sandbox, listens, and puts its workers behind their queues. */
export async function openRuntime(deps: RuntimeDeps): Promise<Runtime> {
  const serving = await openServing(deps, {
    callOperation: (call) => operationCalls.call(call),
    operationVersions: (tx) => operations.versions(tx),
  })
  const { published, sandbox, runtimeLogs, runtimeUsage, tableServices, bucketServices } = serving
  const { openStreams } = serving
  await published.listen(deps.notifications)
  await runtimeLogs.listen(deps.notifications)
  const { cache, runner, callActivity, operationCalls } = openCalls(deps, serving)
  const control = { ...deps, ...serving, caches: new PublishedCaches({ published, cache }) }
  const resources = new Resources({
    ...control,
    layouts: tableServices.tableLayouts,
    contentsOf: contentsOf({ ...serving.tableServices, ...serving.bucketServices, ...deps }),
    operationsUsing: (tx, resourceId) => operations.usingResource(tx, resourceId),
  })
  const operations: Operations = new Operations({
    ...control,
    resources,
    jobsCalling: (tx, operation) => jobs.calling(tx, operation),
  })
  const jobs = new Jobs({ ...deps, operations })
  const jobWork = await openJobWork({ ...deps, runtimeLogs, operationCalls })
  const iac = openIac({ ...control, resources, operations, jobs })
  const permissionSync = new PermissionSync({ ...control, resources, operations })
  permissionSync.serve(deps.queue)
  serveCleanup(deps.queue, serving)
  return {
    lifecycle: new RuntimeLifecycle({ ...control, ...iac, resources, permissionSync }),
    ...tableServices,
    ...bucketServices,
    ...iac,
    envVars: serving.envVars,
    runtimeLogs,
    runtimeUsage,
    runtimeStatus: serving.runtimeStatus,
    sandbox,
    resources,
    operations,
    operationCalls,
    callActivity,
    responseCache: cache,
    httpCalls: new HttpCalls({ published, runner, openStreams }),
    openStreams,
    jobs,
    ...jobWork,
    ...openTrials({ ...deps, ...serving }),
    permissionSync,
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
      await tableServices.tableQuotas[Symbol.asyncDispose]()
      await runtimeUsage[Symbol.asyncDispose]()
      await runtimeLogs[Symbol.asyncDispose]()
    },
  }
}

/** What answers calls. */
function openCalls(deps: RuntimeDeps, serving: Awaited<ReturnType<typeof openServing>>) {
  const cache = new ResponseCache({ shared: deps.sharedCache, now: serving.now })
  const presets = new PresetRunner({
    ...serving,
    tokenKey: deps.sealer.derive('preset-page-tokens'),
  })
  const callActivity = new CallActivity()
  const runner = new OperationRunner({ ...deps, ...serving, callActivity, presets })
  const operationCalls = new OperationCalls({ ...serving, callActivity, cache, runner })
  return { cache, runner, callActivity, operationCalls }
}

/** What the people of a site run by hand. */
const openTrials = (deps: RuntimeDeps & Awaited<ReturnType<typeof openServing>>) => ({
  compute: new Compute({ ...deps, usage: deps.runtimeUsage }),
  operationProfiles: new OperationProfiles(deps),
})

const contentsOf =
  ({
    tableContents,
    bucketContents,
    clock,
  }: Pick<TableServices, 'tableContents'> &
    Pick<BucketServices, 'bucketContents'> &
    Pick<RuntimeDeps, 'clock'>): ContentsOf =>
  async (tx, { type, resourceId }, most) => {
    if (type === 'lambdaFunction') return {}
    const { isAll, ...contents } =
      type === 'ddbTable'
        ? await tableContents(tx, resourceId, { most, now: clock.now() })
        : await bucketContents(tx, resourceId, most)
    return isAll ? contents : { ...contents, atLeast: true }
  }

/** What calls are served from: the current revision in memory, the sandbox, and what is kept of both. */
async function openServing(
  deps: RuntimeDeps,
  later: {
    readonly callOperation: CallOperation
    operationVersions(tx: SiteTx): Promise<ReadonlyMap<string, string>>
  },
) {
  const now = () => deps.clock.now().getTime()
  const settingsOf = (siteId: string) =>
    deps.database.withSite(siteId, async (tx) => (await deps.sources.site(tx)).settings)
  const redaction = new Redaction({ now, forgotten: (siteId) => published.forget(siteId) })
  const redact = (siteId: string, text: string) => redaction.redact(siteId, text)
  const runtimeLogs = new RuntimeLogs({ ...deps, redact })
  const runtimeUsage = new RuntimeUsage(deps)
  const revisions = new Revisions(deps)
  const envVars = new EnvVars({ ...deps, revisions })
  const tableServices = openTables(deps)
  const bucketServices = openBuckets(deps)
  const { tables } = tableServices
  const { buckets } = bucketServices
  // The sandbox asks for host calls and the published site retires isolates: neither happens before both exist.
  const published = new PublishedSites({
    ...deps,
    ...later,
    revisions,
    envVars,
    redaction,
    retire: (program) => sandbox.retire(program),
  })
  const hostCalls = new HostCalls({
    ...deps,
    published,
    settingsOf,
    tables,
    buckets,
    mail: deps.siteMail,
    callOperation: later.callOperation,
  })
  const sandbox: Sandbox = await deps.openSandbox({
    hostCall: (call) => hostCalls.answer(call),
    log: (lines) => runtimeLogs.console(lines),
  })
  const openStreams = new OpenStreams(deps.config.streams)
  const runtimeStatus = async (siteId: string): Promise<RuntimeStatus> => ({
    limits: runtimeLimits((await settingsOf(siteId)).limits),
    loadedRevision: published.peek(siteId)?.revision ?? null,
    sandboxReady: sandbox.status().ready,
    calls: { ...sandbox.callsOf(siteId), openStreams: openStreams.sizeOf(siteId) },
  })
  const stores = { tableServices, bucketServices, tables, buckets }
  const records = { runtimeLogs, runtimeUsage, runtimeStatus, redact, openStreams }
  const control = { now, settingsOf, revisions, envVars, published, sandbox }
  const prepared = new PreparedFunctionCache(sandbox)
  const functionChecks = new FunctionChecks({ ...deps, ...control, prepared })
  const functionGuard = new FunctionGuard({ ...deps, ...control, functionChecks })
  return { ...control, ...stores, ...records, functionChecks, functionGuard }
}

/** The runs of jobs, with the worker that carries them out behind its queue. */
async function openJobWork(
  given: RuntimeDeps & {
    readonly runtimeLogs: RuntimeLogs
    readonly operationCalls: OperationCalls
  },
): Promise<Pick<Runtime, 'jobRuns' | 'jobScheduler' | 'jobActivity'>> {
  const jobActivity = new JobActivity()
  const deps = { ...given, jobActivity }
  const worker = new RunWorker({ ...deps, runAttempts: new RunAttempts(deps) })
  const { ticks, byHand } = runLimits(deps.config.sandbox.warmIsolates)
  const run = (job: QueueJobs['job-run'], signal: AbortSignal) => worker.run(job, signal)
  const givenUp = (job: QueueJobs['job-run']) => worker.giveUp(job)
  deps.queue.handle('job-tick', run, { ...ticks, givenUp })
  deps.queue.handle('job-run', run, { ...byHand, givenUp })
  const jobRuns = new JobRuns({ ...deps, idempotentAnswers: new IdempotentAnswers(deps) })
  const jobScheduler = new JobScheduler({ ...deps, runs: jobRuns })
  await jobScheduler.listen(deps.notifications)
  return { jobRuns, jobScheduler, jobActivity }
}

/** Removes what deleted tables and buckets held. */
function serveCleanup(
  queue: Queue,
  stores: { readonly tableServices: TableServices; readonly bucketServices: BucketServices },
): void {
  const drop = {
    ddbTable: stores.tableServices.dropTable,
    s3Bucket: stores.bucketServices.dropBucket,
  }
  queue.handle(
    'resource-cleanup',
    ({ siteId, type, resourceId }, signal) => drop[type](siteId, resourceId, signal),
    { concurrency: CLEANUP_WORKERS },
  )
}
