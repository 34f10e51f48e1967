import { join } from 'node:path'

import { ArchiveImports } from '#archives/archive-imports.ts'
import { SiteExports } from '#archives/site-exports.ts'
import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { PageTokens } from '#base/page.ts'
import type { Config } from '#config/config.ts'
import type { GroupUses } from '#identity/groups/data-groups.ts'
import { type Identity, openIdentity } from '#identity/identity.ts'
import { type Mail, openMail } from '#mail/mail.ts'
import { HoldWatch } from '#platform/backup/hold-watch.ts'
import { selectLastBackup } from '#platform/backup/last-backup-queries.ts'
import type { OpenConsole } from '#platform/console/built-console.ts'
import { examine } from '#platform/diagnosis/examine.ts'
import type { Finding } from '#platform/diagnosis/finding.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { Logger } from '#platform/log/logger.ts'
import { KeepingObjectStore } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { ObjectUrls } from '#platform/objects/object-urls.ts'
import { RoomyObjectStore } from '#platform/objects/roomy-object-store.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { LayerState } from '#platform/sandbox-host/isolation/isolation-layers.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { Outbox } from '#platform/smtp/outbox.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Tracer } from '#platform/tracing/tracer.ts'
import { type Runtime, type RuntimeDeps, openRuntime } from '#runtime/runtime.ts'
import { SourceMaps } from '#runtime/source-maps/source-maps.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import { SiteBrandings } from '#sites/branding/site-brandings.ts'
import { DeploymentHealth } from '#sites/deployments/deployment-health.ts'
import type { Deployments } from '#sites/deployments/deployments.ts'
import { SiteImports } from '#sites/imports/site-imports.ts'
import type { SiteRecord } from '#sites/model.ts'
import { SiteKeys } from '#sites/site-keys.ts'
import { Sites } from '#sites/sites.ts'

import { type SiteDeployments, openDeployments } from './open-deployments.ts'
import type { Platform } from './opened-platform.ts'
import { checkReadiness } from './readiness.ts'

export type { Platform }

const EXAMINED_SITES = 25

/**
 * The services, wired: those of identity, of mail, of the data runtime, and these. Disposing ends what they started, and never
 * the platform that they were given.
 */
export interface AppContext extends Identity, Mail, Runtime, SiteDeployments {
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
  /** Tries what the service depends on for real. Takes seconds, and never rejects. */
  examine(): Promise<readonly Finding[]>
  /** Gives the files of the console; called when one is first asked for. */
  readonly openConsole: OpenConsole
  /** What is left on the disks that are watched. */
  readonly disk: WatchedDisks
  /** The isolation layers around the processes that run site code. */
  sandboxWalls(): readonly LayerState[]
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
  readonly siteBrandings: SiteBrandings
  /** Sites on their way between installations. */
  readonly siteExports: SiteExports
  readonly archiveImports: ArchiveImports
  /**
   * Works the queues and watches the schedules until `stop`, then finishes the jobs that are running. At `handBack` site code is
   * ended and the jobs that are left go back into their queues: no call can be made afterwards.
   */
  work(stop: AbortSignal, handBack?: AbortSignal): Promise<void>
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
    consoleDomain: config.consoleDomain,
    groupUses: groupUsesOf(() => runtime.operations),
  })
  const deploymentHealth = new DeploymentHealth({ ...deps, queue })
  const runtime = await openRuntime({
    ...deps,
    ...stores,
    ...identity,
    deploymentHealth,
    siteMail: siteMailOf(mail, platform),
    groups: identity.dataGroups,
    scopes: identity.pools,
    sourceMaps: openSourceMaps(platform, () => files.deployments),
    sources: {
      deployedCode: () => files.deployments,
      site: async (tx) => settledSiteOf(await sites.read(tx)),
    },
  })
  const sites = new Sites({
    ...deps,
    queue,
    parts: [identity.pools, runtime.lifecycle],
    sourceRules: { allowFileUrls: config.allowFileRepositories },
    consoleDomain: config.consoleDomain,
  })
  await sites.watch()
  const files = await openDeployments(platform, { ...stores, identity, runtime, mail })
  const services = { ...identity, ...mail, ...runtime, ...deps, ...stores, sites }
  return {
    ...services,
    siteBrandings: new SiteBrandings(services),
    ...files,
    siteExports: new SiteExports(services),
    archiveImports: new ArchiveImports({ ...services, siteImports: new SiteImports(services) }),
    ...conditionOf(platform, objects, services),
    work: (...signals) => work({ ...platform, queue, runtime, mail, sites }, ...signals),
    [Symbol.asyncDispose]: () =>
      disposeAll([files.siteRepositories, runtime, deploymentHealth, queue, objects]),
  }
}

/** The condition of the installation, for the operator. */
const conditionOf = (
  platform: Platform,
  objects: ObjectStore,
  services: Runtime & Mail & Pick<AppContext, 'sites'>,
): Pick<AppContext, 'checkReadiness' | 'lastBackup' | 'examine' | 'sandboxWalls'> => {
  const { statements } = platform.postgres
  return {
    checkReadiness: () => checkReadiness(platform, objects, services),
    lastBackup: () => selectLastBackup(statements),
    examine: () =>
      examine({
        ...platform,
        statements,
        objects,
        pageOrigins: () => pageOriginsOf(services.sites, platform.config.baseUrl),
      }),
    sandboxWalls: () => services.sandbox.status().walls,
  }
}

/** Of the first sites: that others differ is not worth a minute of waiting. */
async function pageOriginsOf(sites: Pick<Sites, 'list'>, baseUrl: string): Promise<string[]> {
  const { items } = await sites.list({ limit: EXAMINED_SITES, after: undefined })
  const origins = items.flatMap(({ domain, deploymentSettings: { cors } }) => [
    new URL(siteBaseUrl(baseUrl, domain)).origin,
    ...(cors?.origins ?? []),
  ])
  return [...new Set(origins)]
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

const settledSiteOf = ({ domain, deploymentSettings: settings }: SiteRecord) => ({
  domain,
  settings,
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
  stagePart: (...part) => siteSender.stagePart(...part),
  sendFromMailbox: (...message) => siteSender.sendFromMailbox(...message),
})

/** One after the other. */
async function disposeAll(opened: readonly AsyncDisposable[]): Promise<void> {
  for (const each of opened) await each[Symbol.asyncDispose]()
}

async function work(
  {
    queue,
    runtime,
    mail: { mailReparsing },
    sites,
    logger,
  }: Pick<Platform, 'logger'> & {
    readonly queue: PostgresQueue
    readonly runtime: Runtime
    readonly mail: Pick<Mail, 'mailReparsing'>
    readonly sites: Pick<Sites, 'list'>
  },
  stop: AbortSignal,
  handBack: AbortSignal | undefined,
): Promise<void> {
  // Site code is ended first: a run that is handed back must not go on here while another process starts it again.
  const endCalls = async () => {
    try {
      await runtime.sandbox[Symbol.asyncDispose]()
    } catch (error) {
      logger.error({ err: error }, 'the sandbox does not end')
    }
  }
  handBack?.addEventListener('abort', () => void endCalls(), { once: true })
  await Promise.all([
    queue.run(stop, handBack),
    runtime.jobScheduler.run(stop),
    mailReparsing.queueAll((page) => sites.list(page), stop),
  ])
}
