import { readFile } from 'node:fs/promises'

import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import { artifactDirectoryOf, storedSource } from '#sites/source.ts'
import { SITE_DEFINITION_FILE } from '#sites/static-settings.ts'

import { type Activation, logActivation } from './activation-log.ts'
import type { ActivationReason } from './activation-record.ts'
import type { ArtifactFolder } from './artifact-folder.ts'
import type { Artifacts, CurrentDeployment } from './artifacts.ts'
import { checkArtifactDirectory, parseBuildYml } from './build-yml.ts'
import type { DeploymentHistory } from './deployment-history.ts'
import {
  type ActivationStep,
  type DeploymentLifecycle,
  preparedAnew,
} from './deployment-lifecycle.ts'
import { existingDeployment, existingSite, deploymentRemoved } from './deployment-rows.ts'
import { ExternalSource, type FetchRepository } from './external-source.ts'
import type { GitState } from './git-state.ts'
import {
  type ArtifactFile,
  type PendingDeployment,
  type DeploymentRecord,
  type DeploymentRow,
  type DeploymentSource,
  checkFiles,
  storedFiles,
} from './model.ts'
import {
  insertDeployment,
  lockDeployedSite,
  markFailed,
  markReady,
  selectDeployedSite,
  updateCurrentDeployment,
  type DeployedSiteRow,
} from './queries.ts'

/** Manifests that are kept for uploads in progress. */
const MAX_MANIFESTS = 64

/** Where files come from, and who deploys them. */
export interface DeploymentOrigin {
  readonly source: DeploymentSource
  readonly by: Actor
  /** Of the repository that the files are from, where that is known. */
  readonly git?: GitState
}

export interface BeginDeployment extends DeploymentOrigin {
  /** The text of `build.yml`. */
  readonly buildYml: string
  readonly files: readonly ArtifactFile[]
}

export interface AuditedActivation extends Pick<Activation, 'replacedId' | 'reason' | 'by'> {
  readonly deploymentId: string
}

export interface ActivationOrder {
  readonly by: Actor
  readonly reason: ActivationReason
  /** Throws where it must not happen any more; the site is locked, and nothing has been changed. */
  guard?(tx: SiteTx, currentId: string | null): void | Promise<void>
  /** What else is changed with it, or not at all. */
  readonly also?: ActivationStep
}

/**
 * How a site gets its files: announce them (`begin`), upload the contents that are missing (`putFile`), make them the
 * current deployment (`activate`). A broken upload is resumed by beginning again: what arrived is not missing any more.
 */
export class Deployments {
  readonly #deps
  readonly #external: ExternalSource
  readonly #manifests = new LoadingCache<string, ReadonlyMap<string, ArtifactFile>>({
    entries: { max: MAX_MANIFESTS },
  })

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock' | 'ids' | 'disk'> & {
      readonly artifacts: Artifacts
      /** Writes down that a deployment becomes current, in the same transaction. */
      readonly audit: (tx: SiteTx, activation: AuditedActivation) => Promise<void>
      readonly history: Pick<DeploymentHistory, 'get'>
      readonly parts: readonly DeploymentLifecycle[]
      readonly fetchRepository: FetchRepository
      /** The absolute folder for repositories that are being read. */
      readonly workDir: string
    },
  ) {
    this.#deps = deps
    this.#external = new ExternalSource({ ...deps, deployments: this })
  }

  async begin(siteId: string, deployment: BeginDeployment): Promise<PendingDeployment> {
    const { database, artifacts, ids, clock, disk } = this.#deps
    disk.check('database', 'objects')
    const { files, git = null } = deployment
    const buildYml = parseBuildYml(deployment.buildYml)
    const deploymentId = ids.named('dep')
    await database.withSite(siteId, async (tx) => {
      const site = await existingSite(tx, lockDeployedSite)
      checkArtifactDirectory(buildYml, artifactDirectoryOf(storedSource(site)))
      checkFiles(files)
      const { artifactDirectory } = buildYml
      const inserted = { ...deployment, deploymentId, artifactDirectory, git }
      await insertDeployment(tx, inserted, clock.now())
    })
    // From here on the sweep knows that these contents are wanted: what is stored now stays.
    const missing = missingOf(files, await artifacts.stored(siteId))
    await this.#checkCode(siteId, deploymentId, files)
    return { deploymentId, missing }
  }

  /** Accepts exactly the bytes that `begin` announced under this hash; sending them again is fine. */
  async putFile(
    siteId: string,
    deploymentId: string,
    sha256: string,
    stream: ReadableStream<Uint8Array>,
  ): Promise<void> {
    const files = await this.#manifest(siteId, deploymentId)
    const file = files.get(sha256)
    if (!file) {
      throw new AppError(
        'ObjectNotFound',
        `The deployment "${deploymentId}" names no file "${sha256}"`,
      )
    }
    await this.#deps.artifacts.put(siteId, file, stream)
    if (file.path === SITE_DEFINITION_FILE) {
      await this.#checkCode(siteId, deploymentId, [...files.values()])
    }
  }

  /**
   * Makes a complete deployment the site's current one, also an earlier one again. It is checked before, and becomes
   * current in one transaction with all that follows from it.
   */
  activate(siteId: string, deploymentId: string, by: Actor): Promise<DeploymentRecord> {
    return this.switchTo(siteId, deploymentId, { by, reason: 'deploy' })
  }

  /** The same for a reason. */
  async switchTo(
    siteId: string,
    deploymentId: string,
    order: ActivationOrder,
  ): Promise<DeploymentRecord> {
    const { database, artifacts } = this.#deps
    const stored = await artifacts.stored(siteId)
    const row = await database.withSite(siteId, async (tx) => {
      const site = await existingSite(tx)
      return completeRow(site, await existingDeployment(tx, deploymentId), stored)
    })
    try {
      await preparedAnew(async () => {
        const steps = await this.#prepare(siteId, row, order)
        await database.withSite(siteId, async (tx) => {
          const site = await existingSite(tx, lockDeployedSite)
          const deployment = completeRow(site, await existingDeployment(tx, deploymentId), stored)
          const replacedId = site.current_deployment_id
          await order.guard?.(tx, replacedId)
          await this.#makeCurrent(tx, { ...order, deployment, replacedId })
          for (const step of steps) await step(tx)
          await order.also?.(tx)
        })
      })
    } catch (error) {
      await this.#refuse(siteId, deploymentId, error)
      throw error
    }
    return this.get(siteId, deploymentId)
  }

  /** Begins, uploads what is missing and activates: the deployment of a folder on this machine. */
  async deployFolder(
    siteId: string,
    origin: DeploymentOrigin,
    { buildYml, files }: Pick<ArtifactFolder, 'buildYml' | 'files'>,
    also?: ActivationStep,
  ): Promise<DeploymentRecord> {
    const announced = files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes }))
    const begun = await this.begin(siteId, { ...origin, buildYml, files: announced })
    const paths = new Map(files.map((file) => [file.sha256, file.absolutePath]))
    for (const sha256 of begun.missing) {
      const contents = new Blob([await readFile(paths.get(sha256) ?? '')])
      await this.putFile(siteId, begun.deploymentId, sha256, contents.stream())
    }
    const order = { by: origin.by, reason: 'deploy', ...(also ? { also } : {}) } as const
    return this.switchTo(siteId, begun.deploymentId, order)
  }

  /** Deploys what the configured branch, or another ref, of the site's external repository holds now. */
  async fetchExternal(siteId: string, by: Actor, ref?: string): Promise<DeploymentRecord> {
    const site = await this.#deps.database.withSite(siteId, (tx) => existingSite(tx))
    return this.#external.deploy(siteId, storedSource(site), by, ref)
  }

  get(siteId: string, deploymentId: string): Promise<DeploymentRecord> {
    return this.#deps.history.get(siteId, deploymentId)
  }

  /** Which deployment is current; null without one. */
  async currentDeployment(tx: SiteTx): Promise<string | null> {
    return (await selectDeployedSite(tx))?.current_deployment_id ?? null
  }

  /** The texts that functions may import, of the current deployment; `Artifacts.textsOf` says which. */
  async codeFiles(siteId: string): Promise<ReadonlyMap<string, string>> {
    const { artifacts, database } = this.#deps
    const { files } = await database.withSite(siteId, (tx) => artifacts.current(tx))
    return artifacts.textsOf(siteId, files)
  }

  current(tx: SiteTx): Promise<CurrentDeployment> {
    return this.#deps.artifacts.current(tx)
  }

  /** As `codeFiles`, of a deployment that was current. */
  textsOf(siteId: string, { files }: CurrentDeployment): Promise<ReadonlyMap<string, string>> {
    return this.#deps.artifacts.textsOf(siteId, files)
  }

  /** The source map of a bundle, whichever deployment brought it. */
  sourceMap(siteId: string, path: string): Promise<string | undefined> {
    return this.#deps.artifacts.sourceMap(siteId, path)
  }

  async #prepare(
    siteId: string,
    row: DeploymentRow,
    { by, reason }: ActivationOrder,
  ): Promise<ActivationStep[]> {
    const { artifacts, parts } = this.#deps
    const files = storedFiles(row.files)
    const codeFiles = await artifacts.textsOf(siteId, files)
    const isRollback = reason !== 'deploy'
    const { deployment_id: deploymentId } = row
    const deployment = { siteId, deploymentId, by, isRollback, files, codeFiles }
    return Promise.all(parts.map((part) => part.prepare(deployment)))
  }

  async #makeCurrent(tx: SiteTx, activation: Activation): Promise<void> {
    const { queue, clock } = this.#deps
    const { siteId } = tx
    const deploymentId = activation.deployment.deployment_id
    await queue.enqueue(tx, 'site-cleanup', { siteId }, { singletonKey: siteId })
    if (deploymentId === activation.replacedId) return
    const now = clock.now()
    await markReady(tx, deploymentId, now)
    await updateCurrentDeployment(tx, deploymentId)
    await logActivation(tx, activation, now)
    const { replacedId, reason, by } = activation
    await this.#deps.audit(tx, { deploymentId, replacedId, reason, by })
  }

  /** Refuses what is too much before the rest of it is sent. */
  async #checkCode(
    siteId: string,
    deploymentId: string,
    files: readonly ArtifactFile[],
  ): Promise<void> {
    try {
      await this.#deps.artifacts.checkCode(siteId, files)
    } catch (error) {
      await this.#refuse(siteId, deploymentId, error)
      throw error
    }
  }

  /** Records why a new deployment did not become current. */
  async #refuse(siteId: string, deploymentId: string, error: unknown): Promise<void> {
    const message = error instanceof AppError ? error.message : 'It could not be applied'
    await this.#deps.database.withSite(siteId, (tx) => markFailed(tx, deploymentId, message))
  }

  #manifest(siteId: string, deploymentId: string) {
    return this.#manifests.get(`${siteId}/${deploymentId}`, async () => {
      const row = await this.#deps.database.withSite(siteId, (tx) =>
        existingDeployment(tx, deploymentId),
      )
      return new Map(storedFiles(row.files).map((file) => [file.sha256, file]))
    })
  }
}

/** The row of a deployment that has all its files and is where the site's build puts them. */
function completeRow(
  site: DeployedSiteRow,
  row: DeploymentRow,
  stored: ReadonlyMap<string, number>,
): DeploymentRow {
  if (row.status === 'removed') throw deploymentRemoved(row.deployment_id)
  refuseMissing(missingOf(storedFiles(row.files), stored))
  const artifactDirectory = row.artifact_directory
  checkArtifactDirectory({ artifactDirectory }, artifactDirectoryOf(storedSource(site)))
  return row
}

/** Returns each hash once. A stored object of another size is what an interrupted upload left behind. */
function missingOf(files: readonly ArtifactFile[], stored: ReadonlyMap<string, number>): string[] {
  const missing = files.filter(({ sha256, sizeBytes }) => stored.get(sha256) !== sizeBytes)
  return [...new Set(missing.map(({ sha256 }) => sha256))]
}

function refuseMissing(missing: readonly string[]): void {
  if (missing.length === 0) return
  throw new AppError(
    'InvalidArtifact',
    `${missing.length} of the deployment's files are not uploaded yet: upload them, or begin again`,
    { fields: { missing: missing.slice(0, 20) } },
  )
}
