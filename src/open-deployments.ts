import { join } from 'node:path'

import type { Identity } from '#identity/identity.ts'
import { activationEvent } from '#identity/security-events/activation-event.ts'
import type { Mail } from '#mail/mail.ts'
import { fetchRepository } from '#platform/git/fetch-repository.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { PostgresQueue } from '#platform/queue/postgres-queue.ts'
import type { Outbox } from '#platform/smtp/outbox.ts'
import { definitionDiff } from '#runtime/definitions/definition-diff.ts'
import { deploymentOutcome } from '#runtime/deployment-outcome.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { Artifacts } from '#sites/deployments/artifacts.ts'
import { AutomaticRollbacks } from '#sites/deployments/automatic-rollbacks.ts'
import { DeploymentHistory } from '#sites/deployments/deployment-history.ts'
import { Deployments } from '#sites/deployments/deployments.ts'
import { handleRepositoryFetch } from '#sites/deployments/repository-fetch.ts'
import { Rollbacks } from '#sites/deployments/rollbacks.ts'
import { RepositoryPacks } from '#sites/repository/packs.ts'
import { SiteRepositories } from '#sites/repository/site-repositories.ts'
import { SiteCleanup } from '#sites/site-cleanup.ts'
import { StaticContents } from '#sites/static/contents.ts'
import { EncodedFiles } from '#sites/static/encoded-files.ts'
import { ManifestBuilder } from '#sites/static/manifest-builder.ts'
import { StaticSites } from '#sites/static/static-sites.ts'

import type { Platform } from './opened-platform.ts'

/** What sites are deployed as. */
export interface SiteDeployments {
  readonly deployments: Deployments
  readonly siteRepositories: SiteRepositories
  /** The public files of sites, and their bytes. */
  readonly staticSites: StaticSites
  readonly staticContents: StaticContents
  readonly deploymentHistory: DeploymentHistory
  readonly rollbacks: Rollbacks
}

/** The deployments of sites, their repositories, and the job that removes what a deleted site leaves behind. */
export async function openDeployments(
  platform: Platform,
  services: {
    readonly queue: PostgresQueue
    readonly identity: Pick<Identity, 'securityEvents'>
    readonly runtime: Runtime
    readonly mail: Pick<Mail, 'mailRemoval'>
    readonly objects: ObjectStore
    readonly outbox: Outbox
  },
): Promise<SiteDeployments> {
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
  const rollbackDeps = { ...deps, deployments, siteLog: runtime.runtimeLogs }
  new AutomaticRollbacks(rollbackDeps).serve(queue)
  return {
    deployments,
    siteRepositories: new SiteRepositories({
      ...deps,
      deployments,
      packs,
      workDir,
      cacheDir: join(config.dataDir, 'cache', 'git'),
      waitForRuntime: (siteId, deploymentId, signal) =>
        deploymentOutcome(runtime, { siteId, deploymentId }, signal),
    }),
    deploymentHistory: history,
    rollbacks: new Rollbacks(rollbackDeps),
    staticSites,
    staticContents: new StaticContents(deps),
  }
}
