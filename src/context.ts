import { join } from 'node:path'

import { type Archives, openArchives } from '#archives/open-archives.ts'
import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { PageTokens } from '#base/page.ts'
import type { Config } from '#config/config.ts'
import type { GroupUses } from '#identity/groups/service.ts'
import { type Identity, openIdentity } from '#identity/identity.ts'
import type { NewKeyPair } from '#identity/keys/key-pair.ts'
import { activationEvent } from '#identity/security-events/activation-event.ts'
import { type Mail, openMail } from '#mail/mail.ts'
import { HoldWatch } from '#platform/backup/hold-watch.ts'
import { selectLastBackup } from '#platform/backup/last-backup-queries.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Egress } from '#platform/egress/egress.ts'
import { fetchRepository } from '#platform/git/fetch-repository.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import { KeepingObjectStore } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { ObjectUrls } from '#platform/objects/object-urls.ts'
import { RoomyObjectStore } from '#platform/objects/roomy-object-store.ts'
import type { DatabaseTime } from '#platform/postgres/database-time.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'
import type { WallState } from '#platform/sandbox-host/walls/walls.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { Outbox } from '#platform/smtp/outbox.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Tracer } from '#platform/tracing/tracer.ts'
import { definitionDiff } from '#runtime/definitions/definition-diff.ts'
import { deploymentOutcome } from '#runtime/deployment-outcome.ts'
import { type Runtime, type RuntimeDeps, openRuntime } from '#runtime/runtime.ts'
import { SourceMaps } from '#runtime/source-maps/service.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import { Artifacts } from '#sites/deployments/artifacts.ts'
import { DeploymentHealth } from '#sites/deployments/deployment-health.ts'
import { DeploymentHistory } from '#sites/deployments/deployment-history.ts'
import { openRollbacks } from '#sites/deployments/open-rollbacks.ts'
import { handleRepositoryFetch } from '#sites/deployments/repository-fetch.ts'
import type { Rollbacks } from '#sites/deployments/rollbacks.ts'
import { Deployments } from '#sites/deployments/service.ts'
import { RepositoryPacks } from '#sites/repository/packs.ts'
import { SiteRepositories, type SiteRepositoriesDeps } from '#sites/repository/service.ts'
import { Sites } from '#sites/service.ts'
import { SiteCleanup } from '#sites/site-cleanup.ts'
import { SiteKeys } from '#sites/site-keys.ts'
import { StaticContents } from '#sites/static/contents.ts'
import { EncodedFiles } from '#sites/static/encoded-files.ts'
import { ManifestBuilder } from '#sites/static/manifest-builder.ts'
import { StaticSites } from '#sites/static/service.ts'

import { checkReadiness } from './readiness.ts'

/**
 * The services, wired: those of identity, of mail, of the data runtime, and these. Disposing ends what they started, and never
 * the platform that they were given.
 */
export interface AppContext extends Identity, Mail, Runtime, Archives {
  readonly config: Config
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly pageTokens: PageTokens
  /** Derives keys, each for one purpose. */
  readonly sealer: Pick<Sealer, 'derive'>
  /** Undefined where it opens nothing: at `PORT`, beside a listener of the operator's own. */
  readonly operatorKey: string | undefined
  /** What `/readyz` tells. Every value other than `ok` says what is wrong. */
  checkReadiness(): Promise<Readonly<Record<string, string>>>
  /** The moment of the newest backup; undefined before the first. */
  lastBackup(): Promise<Date | undefined>
  /** What is left on the disks that are watched. */
  readonly disk: WatchedDisks
  /** What stands around the processes that run site code. */
  sandboxWalls(): readonly WallState[]
  readonly postgres: Pick<PostgresPlatform, 'status'>
  readonly requestTraces: RequestTraces
  /** Undefined where no spans are recorded. */
  readonly tracer: Tracer | undefined
  readonly queue: Pick<PostgresQueue, 'activity' | 'depths'>
  readonly sharedCache: Pick<SharedCache, 'redisActivity'>
  readonly counters: Pick<Counters, 'redisActivity'>
  readonly objects: ObjectStore
  /** Signs the URLs that lead to this service: all of the file store, and uploads to S3 whose length is not known before. */
  readonly objectUrls: ObjectUrls
  /** The mail that was kept here instead of delivered. */
  readonly outbox: Outbox
  readonly sites: Sites
  readonly deployments: Deployments
  readonly siteRepositories: SiteRepositories
  /** The public files of sites, and their bytes. */
  readonly staticSites: StaticSites
  readonly staticContents: StaticContents
  readonly deploymentHistory: DeploymentHistory
  readonly rollbacks: Rollbacks
  /**
   * Works the queues and watches the schedules until `stop`, then finishes the jobs that are running. At `handBack` site code is
   * ended and the jobs that are left go back into their queues: no call can be made afterwards.
   */
  work(stop: AbortSignal, handBack?: AbortSignal): Promise<void>
}

/** The outside systems, opened by whoever knows where they are: the process's entry, or a test. */
export interface Platform {
  readonly config: Config
  readonly operatorKey: string
  readonly logger: Logger
  readonly clock: Clock
  readonly databaseTime: DatabaseTime
  readonly ids: Ids
  /** Gives the key pair of a new pool; generated when left out. */
  newKeyPair?(): Promise<NewKeyPair>
  readonly postgres: PostgresPlatform
  readonly sealer: Sealer
  readonly sharedCache: SharedCache
  readonly counters: Counters
  readonly disk: WatchedDisks
  readonly egress: Egress
  readonly requestTraces: RequestTraces
  /** Undefined where no spans are recorded. */
  readonly tracer: Tracer | undefined
  readonly mailTransport: MailTransport
  readonly mailParser: MailParser
  readonly dns: DnsResolver
  /** `urls` are those that the service answers itself. */
  openObjects(urls: ObjectUrls): Promise<ObjectStore>
  openSandbox(environment: SandboxEnvironment): Promise<Sandbox>
}

export async function openContext(platform: Platform): Promise<AppContext> {
  const { config, sealer } = platform
  const { statements, database, notifications, holder } = platform.postgres
  const siteKeys = new SiteKeys()
  const siteOf = (siteId: string) => sites.get(siteId)
  const siteByHost = (host: string) => sites.byHost(host)
  const pageTokens = new PageTokens(sealer.derive('page-tokens'))
  const deps = { ...platform, database, notifications, siteKeys, siteOf, siteByHost, pageTokens }
  const queue = await openQueue({ statements, notifications, holder, log: platform.logger })
  const { objects, objectUrls } = await openStore(platform, siteOf)
  const outbox = new Outbox(join(config.dataDir, 'outbox'))
  const stores = { queue, objects, objectUrls, outbox }
  const mail = await openMail({ ...deps, ...stores, identity: () => identity })
  const identity = await openIdentity({
    ...deps,
    queue,
    mail: mail.outboundMessages,
    mailboxOwnership: mail.mailboxOwners,
    baseUrl: config.baseUrl,
    groupUses: groupUsesOf(() => runtime.operations),
  })
  const deploymentHealth = new DeploymentHealth({ ...deps, queue })
  const runtime = await openRuntime({
    ...deps,
    ...stores,
    deploymentHealth,
    siteMail: siteMailOf(mail, platform),
    visitors: identity.visitors,
    groups: identity.dataGroups,
    sourceMaps: openSourceMaps(platform, () => files.deployments),
    sources: {
      deployedCode: () => files.deployments,
      settings: (siteId) => database.withSite(siteId, (tx) => sites.settings(tx)),
    },
  })
  const sites = new Sites({
    ...deps,
    queue,
    parts: [identity.pools, runtime.lifecycle],
    sourceRules: { allowFileUrls: config.allowFileRepositories },
  })
  await sites.watch()
  const files = await openDeployments(platform, { ...stores, identity, runtime, mail })

  return {
    ...identity,
    ...mail,
    ...runtime,
    ...deps,
    ...stores,
    sites,
    ...files,
    ...openArchives({ ...deps, ...stores, ...identity, ...mail, ...runtime, sites }),
    checkReadiness: () => checkReadiness(platform, objects, { ...runtime, ...mail }),
    lastBackup: () => selectLastBackup(statements),
    sandboxWalls: () => runtime.sandbox.status().walls,
    work: (stop, handBack) => work({ queue, runtime, logger: platform.logger }, stop, handBack),
    [Symbol.asyncDispose]: () =>
      disposeAll([files.siteRepositories, runtime, deploymentHealth, queue, objects]),
  }
}

/** The store of this process: it keeps what backups want, and takes nothing more while there is no room. */
async function openStore(
  platform: Platform,
  siteOf: (siteId: string) => Promise<{ readonly domain: string }>,
): Promise<Pick<AppContext, 'objects' | 'objectUrls'>> {
  const { config, sealer, clock, postgres, disk } = platform
  const objectUrls = new ObjectUrls({
    key: sealer.derive('object-urls'),
    baseUrlOf: async (siteId) => siteBaseUrl(config.baseUrl, (await siteOf(siteId)).domain),
    clock,
  })
  const stored = await platform.openObjects(objectUrls)
  const keeping = new KeepingObjectStore(stored, new HoldWatch(postgres.statements))
  return { objects: new RoomyObjectStore(keeping, disk), objectUrls }
}

const groupUsesOf = (operations: () => Runtime['operations']): GroupUses => ({
  operationsFor: (tx, group) => operations().forGroup(tx, group),
  renamed: (tx, names) => operations().renameGroup(tx, names),
})

const openSourceMaps = (
  { logger }: Platform,
  deployments: () => Pick<Deployments, 'sourceMap'>,
): SourceMaps =>
  new SourceMaps({
    logger,
    readSourceMap: (siteId, path) => deployments().sourceMap(siteId, path),
  })

const siteMailOf = (
  { siteMessages, siteSender }: Mail,
  { disk }: Platform,
): RuntimeDeps['siteMail'] => ({
  send: async (...message) => {
    disk.check('database')
    return siteMessages.send(...message)
  },
  sendFromMailbox: (...message) => siteSender.sendFromMailbox(...message),
})

/** One after the other. */
async function disposeAll(opened: readonly AsyncDisposable[]): Promise<void> {
  for (const each of opened) await each[Symbol.asyncDispose]()
}

async function work(
  { queue, runtime, logger }: Pick<Platform, 'logger'> & { queue: PostgresQueue; runtime: Runtime },
  stop: AbortSignal,
  handBack: AbortSignal | undefined,
): Promise<void> {
  // Site code is ended first: a run that is handed back must not go on here while another process begins it anew.
  const endCalls = async () => {
    try {
      await runtime.sandbox[Symbol.asyncDispose]()
    } catch (error) {
      logger.error({ err: error }, 'the sandbox does not end')
    }
  }
  handBack?.addEventListener('abort', () => void endCalls(), { once: true })
  await Promise.all([queue.run(stop, handBack), runtime.jobScheduler.run(stop)])
}

/** The deployments of sites, their repositories, and the job that removes what a deleted site leaves behind. */
async function openDeployments(
  platform: Platform,
  services: {
    readonly queue: PostgresQueue
    readonly identity: Pick<Identity, 'securityEvents'>
    readonly runtime: Runtime
    readonly mail: Pick<Mail, 'mailRemoval'>
    readonly objects: ObjectStore
    readonly outbox: Outbox
  },
): Promise<
  Pick<
    AppContext,
    | 'deployments'
    | 'siteRepositories'
    | 'deploymentHistory'
    | 'rollbacks'
    | 'staticSites'
    | 'staticContents'
  >
> {
  const { config, postgres } = platform
  const { queue, identity, runtime, mail } = services
  const deps = { ...platform, ...services, database: postgres.database }
  const artifacts = new Artifacts(deps)
  const packs = new RepositoryPacks(deps)
  const workDir = join(config.dataDir, 'work')
  const encodedFiles = new EncodedFiles({ ...deps, artifacts })
  const manifests = new ManifestBuilder({ ...deps, artifacts, encodedFiles })
  const staticSites = new StaticSites({ ...deps, notifications: postgres.notifications, manifests })
  await staticSites.listen(postgres.notifications)
  const cleanup = new SiteCleanup({
    ...deps,
    artifacts,
    encodedFiles,
    packs,
    removers: [runtime.tableBuilds, mail.mailRemoval],
  })
  queue.handle('site-cleanup', (job, signal) => cleanup.run(job, signal))
  const history = new DeploymentHistory({ ...deps, artifacts, definitionDiff })
  const deployments = new Deployments({
    ...deps,
    artifacts,
    history,
    audit: (tx, activation) => identity.securityEvents.record(tx, activationEvent(activation)),
    parts: [runtime.lifecycle, staticSites],
    fetchRepository: (request) =>
      fetchRepository({ ...request, allowFileUrls: config.allowFileRepositories }),
    workDir,
  })
  handleRepositoryFetch(queue, { deployments, logger: platform.logger })
  return {
    deployments,
    siteRepositories: openRepositories({ ...deps, deployments, packs, workDir }),
    deploymentHistory: history,
    rollbacks: openRollbacks({ ...deps, deployments, siteLog: runtime.runtimeLogs }),
    staticSites,
    staticContents: new StaticContents(deps),
  }
}

const openRepositories = (
  deps: Omit<SiteRepositoriesDeps, 'cacheDir' | 'waitForRuntime'> & {
    readonly config: Config
    readonly runtime: Runtime
  },
): SiteRepositories =>
  new SiteRepositories({
    ...deps,
    cacheDir: join(deps.config.dataDir, 'cache', 'git'),
    waitForRuntime: (siteId, deploymentId, signal) =>
      deploymentOutcome(deps.runtime, { siteId, deploymentId }, signal),
  })
