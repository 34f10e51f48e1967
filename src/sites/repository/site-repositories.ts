import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'
import { type GitSource, commitOf } from '#platform/git/commit-files.ts'
import {
  type GitHttpAnswer,
  type GitHttpExchange,
  type GitHttpRequest,
  gitHttpBackend,
} from '#platform/git/http-backend.ts'
import type { DeploymentRecord } from '#sites/deployments/model.ts'
import { openWorkFolder } from '#sites/deployments/work-folder.ts'

import { type Binding, bindingOf } from './binding.ts'
import { commitArtifact } from './commit-artifact.ts'
import { type OpenView, RepositoryMirror } from './mirror.ts'
import { Push, type PushDeps } from './push.ts'
import { selectRepository, selectSiteSource } from './queries.ts'

/** The pack of one push. */
const MAX_PUSH_BYTES = 256 * 1024 * 1024
const REQUEST_MS = 15 * 60_000
const REVISION = /^(?!-)[\w./+@-]{1,200}$/
const REQUESTS_AT_ONCE = 16
const OF_ONE_SITE = 4
const WAITING = 32
const WAIT_MS = 30_000

/** A request of git's, and who sent it. */
export interface RepositoryRequest extends Pick<
  GitHttpRequest,
  'service' | 'part' | 'headers' | 'body' | 'signal'
> {
  readonly by: Actor
}

/** The repositories of sites with the source mode `SITE_GIT`: clone and fetch, and pushes that deploy. */
export class SiteRepositories implements AsyncDisposable {
  readonly #deps
  readonly #mirror: RepositoryMirror
  /** Ends running work when the service ends. */
  readonly #closing = new AbortController()
  readonly #limiter = new Limiter({
    permits: REQUESTS_AT_ONCE,
    permitsPerKey: OF_ONE_SITE,
    maxQueued: WAITING,
    maxWaitMs: WAIT_MS,
    refuse: () =>
      new AppError('TooManyRequests', 'Too many clones, fetches and pushes at once: try again', {
        retryAfterSeconds: 5,
      }),
  })

  constructor(
    deps: PushDeps & {
      /** The absolute folder for copies of repositories. */
      readonly cacheDir: string
    },
  ) {
    this.#deps = deps
    this.#mirror = new RepositoryMirror(deps)
  }

  /** 404 `RepositoryNotFound` for a site with another source. The answer's body is to be read or cancelled. */
  async answer(siteId: string, request: RepositoryRequest): Promise<GitHttpAnswer> {
    const permit = { key: siteId, signal: request.signal }
    await this.#limiter.acquire(permit)
    const ends = [request.signal, this.#closing.signal, AbortSignal.timeout(REQUEST_MS)]
    const signal = AbortSignal.any(ends)
    let view: OpenView | undefined
    let hasStarted = false
    const leave = async (): Promise<void> => {
      this.#limiter.release(permit)
      await view?.[Symbol.asyncDispose]()
    }
    try {
      const binding = await this.#binding(siteId)
      view = await this.#open(siteId, binding, signal)
      const exchange = this.#exchange(siteId, { request, binding, view, signal })
      hasStarted = true
      void exchange.ended.then(leave)
      return await exchange.answer
    } catch (error) {
      if (!hasStarted) await leave()
      throw error
    }
  }

  /** Deploys what a branch, tag or commit of the repository holds; the bound branch when none is named. */
  async deploy(siteId: string, by: Actor, ref?: string): Promise<DeploymentRecord> {
    const signal = AbortSignal.timeout(REQUEST_MS)
    const binding = await this.#binding(siteId)
    const { artifactDirectory: directory } = binding
    await using view = await this.#open(siteId, binding, signal)
    const source: GitSource = { gitDir: view.gitDir, signal }
    const branch = ref ?? binding.branch
    const commit = await revision(source, branch)
    await using folder = await openWorkFolder(this.#deps)
    const configured = { field: 'repoBinding.artifactDirectory', directory }
    const artifact = await commitArtifact(source, { commit, configured, intoDir: folder.path })
    const origin = { source: { type: 'git', branch, commit }, by } as const
    const git = { commit, branch, dirty: false }
    return await this.#deps.deployments.deployFolder(siteId, { ...origin, git }, artifact)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('The service is stopping'))
    await this.#mirror[Symbol.asyncDispose]()
  }

  async #binding(siteId: string): Promise<Binding> {
    return bindingOf(siteId, await this.#deps.database.withSite(siteId, selectSiteSource))
  }

  async #open(siteId: string, { branch }: Binding, signal: AbortSignal): Promise<OpenView> {
    const snapshot = await this.#deps.database.withSite(siteId, selectRepository)
    const maxPushBytes = MAX_PUSH_BYTES
    return this.#mirror.open({ siteId, snapshot, headBranch: branch, maxPushBytes, signal })
  }

  #exchange(
    siteId: string,
    {
      request,
      binding,
      view,
      signal,
    }: {
      readonly request: RepositoryRequest
      readonly binding: Binding
      readonly view: OpenView
      readonly signal: AbortSignal
    },
  ): GitHttpExchange {
    const { by, ...asked } = request
    const isPush = request.service === 'git-receive-pack' && request.part === 'service'
    if (isPush) this.#deps.disk.check('folder', 'database', 'objects')
    const push = new Push(this.#deps, { siteId, binding, view, by })
    return gitHttpBackend({
      ...asked,
      signal,
      projectRoot: view.projectRoot,
      repository: view.name,
      ...(isPush ? { decide: (pushed) => push.decide(pushed) } : {}),
    })
  }
}

async function revision(source: GitSource, ref: string): Promise<string> {
  const commit = REVISION.test(ref) ? await commitOf(source, ref) : undefined
  if (commit !== undefined) return commit
  throw new AppError(
    'RefNotFound',
    `The repository of the site has no branch, tag or commit "${ref}": push it first to /site.git`,
  )
}
