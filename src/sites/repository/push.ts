import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { ifMissing } from '#base/error-code.ts'
import { sourceFaults } from '#base/source-faults.ts'
import { type GitSource, isAncestor, objectTypes } from '#platform/git/commit-files.ts'
import type { PushedRefs, RefUpdate } from '#platform/git/push-channel.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Deployments } from '#sites/deployments/deployments.ts'
import { type WorkFolderDeps, openWorkFolder } from '#sites/deployments/work-folder.ts'

import { type Binding, bindingOf } from './binding.ts'
import { commitArtifact } from './commit-artifact.ts'
import type { OpenView } from './mirror.ts'
import type { RepositoryPacks } from './packs.ts'
import { branchRef, checkUpdates, refsAfter, refused, shortName } from './push-rules.ts'
import { type StoredPack, insertPack, lockRepository, lockSiteSource, writeRef } from './queries.ts'

/** What became of a deployment once the runtime has looked at it: undefined when it runs, else the reason. */
type WaitForRuntime = (
  siteId: string,
  deploymentId: string,
  signal: AbortSignal,
) => Promise<string | undefined>

export interface PushDeps
  extends Pick<PlatformServices, 'database' | 'logger' | 'disk'>, WorkFolderDeps {
  readonly deployments: Pick<Deployments, 'deployFolder'>
  readonly packs: RepositoryPacks
  readonly waitForRuntime: WaitForRuntime
}

export interface PushContext {
  readonly siteId: string
  readonly binding: Binding
  readonly view: OpenView
  readonly by: Actor
}

/**
 * Decides about one push. Its objects are stored first; then its refs, its objects and the deployment of the bound branch become
 * what the site has in one transaction, or not at all, before git answers.
 */
export class Push {
  readonly #deps: PushDeps
  readonly #context: PushContext
  #isCommitted = false

  constructor(deps: PushDeps, context: PushContext) {
    this.#deps = deps
    this.#context = context
  }

  async decide(push: PushedRefs): Promise<boolean> {
    try {
      await this.#take(push)
    } catch (error) {
      if (!this.#isCommitted) {
        this.#tellRefusal(push, error)
        return false
      }
      // It is done: the client must not get an error.
      this.#deps.logger.warn({ err: error, siteId: this.#context.siteId }, 'after a push')
    }
    return true
  }

  #tellRefusal(push: PushedRefs, error: unknown): void {
    if (error instanceof AppError) {
      push.progress([`${error.code}: ${error.message}`, ...sourceFaults(error.fields)].join('\n'))
      return
    }
    const { siteId } = this.#context
    if (!push.signal.aborted) this.#deps.logger.error({ err: error, siteId }, 'push failed')
    push.progress('Something went wrong on our side: push again')
  }

  async #take(push: PushedRefs): Promise<void> {
    const { binding } = this.#context
    checkUpdates(push.updates, binding.branch)
    const source = this.#sourceOf(push)
    await this.#checkObjects(source, push.updates)
    const bound = push.updates.find(({ name }) => name === branchRef(binding.branch))
    const packs = await this.#storePacks(push)
    try {
      if (bound?.newOid === undefined) await this.#keep(push, packs)
      else await this.#deploy(push, packs, { source, commit: bound.newOid })
    } finally {
      if (!this.#isCommitted) await this.#discard(packs)
    }
  }

  /** Git sets new objects apart until they are taken. */
  #sourceOf({ objectDirectory, signal }: PushedRefs): GitSource {
    const { view } = this.#context
    const apart = {
      GIT_OBJECT_DIRECTORY: objectDirectory,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: view.objectsDir,
    }
    return { gitDir: view.gitDir, signal, env: objectDirectory === '' ? {} : apart }
  }

  /** What git itself would refuse only after this decision. */
  async #checkObjects(source: GitSource, updates: readonly RefUpdate[]): Promise<void> {
    const { branch } = this.#context.binding
    const oids = updates.flatMap(({ newOid }) => newOid ?? [])
    const types = oids.length === 0 ? new Map() : await objectTypes(source, oids)
    for (const { name, oldOid, newOid } of updates) {
      if (newOid === undefined) continue
      if (name.startsWith('refs/heads/') && types.get(newOid) !== 'commit') {
        throw refused(`The branch "${shortName(name)}" would not point to a commit`)
      }
      if (name !== branchRef(branch) || oldOid === undefined) continue
      if (await isAncestor(source, oldOid, newOid)) continue
      throw refused(
        `The branch "${branch}" is deployed, and takes no forced push: fetch it, and merge or rebase; or push to another branch and bind the site to that`,
      )
    }
  }

  async #storePacks({ objectDirectory }: PushedRefs): Promise<StoredPack[]> {
    const { siteId, binding } = this.#context
    if (objectDirectory === '') return []
    const folder = join(objectDirectory, 'pack')
    const names = (await readdir(folder).catch(ifMissing([]))).filter((name) =>
      name.endsWith('.pack'),
    )
    const stored: StoredPack[] = []
    for (const name of names) {
      const path = join(folder, name)
      const { size } = await stat(path)
      if (size > binding.maxBytes) throw noRoom(binding.maxBytes)
      stored.push(
        await this.#deps.packs.put(siteId, { pack: name.replace(/\.pack$/, ''), path, size }),
      )
    }
    return stored
  }

  async #keep(push: PushedRefs, packs: readonly StoredPack[]): Promise<void> {
    const { database } = this.#deps
    const { siteId, binding } = this.#context
    push.signal.throwIfAborted()
    await database.withSite(siteId, (tx) => this.#commit(tx, push.updates, packs))
    const names = push.updates.map(({ name }) => shortName(name)).join(', ')
    push.progress(`Kept ${names}; only a push to "${binding.branch}" is deployed`)
  }

  async #deploy(
    push: PushedRefs,
    packs: readonly StoredPack[],
    { source, commit }: { readonly source: GitSource; readonly commit: string },
  ): Promise<void> {
    const { deployments, waitForRuntime } = this.#deps
    const { siteId, binding, by } = this.#context
    const { branch, artifactDirectory: directory } = binding
    const configured = { field: 'repoBinding.artifactDirectory', directory }
    await using folder = await openWorkFolder(this.#deps)
    const artifact = await commitArtifact(source, { commit, configured, intoDir: folder.path })
    push.progress(`Deploying ${artifact.files.length} files of "${directory}"…`)
    push.signal.throwIfAborted()
    const origin = {
      source: { type: 'git', branch, commit },
      by,
      git: { commit, branch, dirty: false },
    } as const
    const { deploymentId, sizeBytes } = await deployments.deployFolder(
      siteId,
      origin,
      artifact,
      (tx) => this.#commit(tx, push.updates, packs),
    )
    push.progress(`Deployed ${deploymentId}: ${sizeBytes} bytes`)
    const fault = await waitForRuntime(siteId, deploymentId, push.signal)
    push.progress(fault === undefined ? 'The runtime runs it now' : `But ${fault}`)
  }

  /** In the transaction that deploys what is pushed, where it is deployed. */
  async #commit(
    tx: SiteTx,
    updates: readonly RefUpdate[],
    packs: readonly StoredPack[],
  ): Promise<void> {
    const { branch, artifactDirectory } = this.#context.binding
    const now = bindingOf(tx.siteId, await lockSiteSource(tx))
    if (now.branch !== branch || now.artifactDirectory !== artifactDirectory) {
      throw refused('The site has been bound to another branch or folder: push again')
    }
    const { refs, packs: before } = await lockRepository(tx)
    refsAfter(refs, updates)
    if (packs.length > 0 && sizeOf(before) + sizeOf(packs) > now.maxBytes)
      throw noRoom(now.maxBytes)
    for (const pack of packs) await insertPack(tx, pack, this.#deps.clock.now())
    for (const update of updates) await writeRef(tx, update)
    tx.onCommit(() => (this.#isCommitted = true))
  }

  /** Best effort: what stays is swept away later. */
  async #discard(packs: readonly StoredPack[]): Promise<void> {
    const { siteId } = this.#context
    await Promise.allSettled(packs.map((pack) => this.#deps.packs.delete(siteId, pack)))
  }
}

const sizeOf = (packs: readonly StoredPack[]): number =>
  packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

const noRoom = (maxBytes: number): AppError =>
  new AppError(
    'QuotaExceeded',
    `The repository may hold ${maxBytes} bytes (limit "repositoryBytes"): leave out what is large, or have the operator raise it`,
  )
