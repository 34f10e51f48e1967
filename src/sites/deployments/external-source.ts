import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { SingleFlight } from '#base/single-flight.ts'
import { type Repo, type SiteSource, artifactDirectoryOf } from '#sites/source.ts'

import { scanArtifact } from './artifact-folder.ts'
import { checkArtifactDirectory } from './build-yml.ts'
import type { Deployments } from './deployments.ts'
import type { DeploymentRecord } from './model.ts'
import { type WorkFolderDeps, openWorkFolder } from './work-folder.ts'

const FETCH_MS = 120_000
const MAX_REPOSITORY_BYTES = 1024 * 1024 * 1024

/** Brings one branch of a repository into an empty folder. Throws `RefNotFound`, or `SourceUnavailable` that says why it could not. */
export type FetchRepository = (request: {
  readonly url: string
  readonly branch: string
  readonly intoDir: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxBytes: number
}) => Promise<{
  readonly commit: string
  /** Paths of symbolic links, which the folder holds as plain files. */
  readonly symbolicLinks: readonly string[]
}>

/** Deploys what the configured branch of a site's external repository holds now. */
export class ExternalSource {
  readonly #deps
  readonly #flights = new SingleFlight<string, DeploymentRecord>()

  constructor(
    deps: WorkFolderDeps & {
      readonly deployments: Pick<Deployments, 'deployFolder'>
      readonly fetchRepository: FetchRepository
    },
  ) {
    this.#deps = deps
  }

  /**
   * Joins the fetch of the same that is in progress, if any. `ref` is a branch, a tag or the whole id of a commit instead of the
   * configured branch.
   */
  deploy(siteId: string, source: SiteSource, by: Actor, ref?: string): Promise<DeploymentRecord> {
    const { repo, sourceMode } = source
    if (repo === null) {
      throw new AppError(
        'ValidationError',
        `The site's source mode is "${sourceMode}": only "EXTERNAL_REPO" can be fetched; deploy a folder instead`,
      )
    }
    const named = { ...repo, branch: ref ?? repo.branch }
    // The sender of a change needs a fetch that begins afterwards.
    const key = `${siteId} ${by.type} ${named.branch}`
    return this.#flights.run(key, () => this.#fetch(siteId, named, by))
  }

  async #fetch(siteId: string, repo: Repo, by: Actor): Promise<DeploymentRecord> {
    await using folder = await openWorkFolder(this.#deps)
    return await this.#deploy(siteId, repo, { intoDir: folder.path, by })
  }

  async #deploy(
    siteId: string,
    repo: Repo,
    { intoDir, by }: { readonly intoDir: string; readonly by: Actor },
  ): Promise<DeploymentRecord> {
    const { deployments, fetchRepository } = this.#deps
    const { url, branch } = repo
    const signal = AbortSignal.timeout(FETCH_MS)
    const { commit, symbolicLinks } = await fetchRepository({
      url,
      branch,
      intoDir,
      signal,
      timeoutMs: FETCH_MS,
      maxBytes: MAX_REPOSITORY_BYTES,
    })
    const configured = artifactDirectoryOf({ sourceMode: 'EXTERNAL_REPO', repo, repoBinding: null })
    const artifact = await scanArtifact(intoDir, (parsed) =>
      checkArtifactDirectory(parsed, configured),
    )
    refuseLinks(symbolicLinks, configured.directory)
    const source = { type: 'repo', url, branch, commit } as const
    const git = { commit, branch: branch === commit ? null : branch, dirty: false }
    return deployments.deployFolder(siteId, { source, by, git }, artifact)
  }
}

/** Refuses links in the artifact. Elsewhere in the repository, as in its tooling, they do no harm. */
function refuseLinks(paths: readonly string[], directory: string): void {
  const inside = directory === '.' ? '' : `${directory}/`
  const link = paths.find((path) => path.startsWith(inside) || path === 'build.yml')
  if (link === undefined) return
  throw new AppError(
    'InvalidArtifact',
    `"${link}" is a symbolic link: put the file itself into the artifact`,
  )
}
