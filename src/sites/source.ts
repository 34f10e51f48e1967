import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'

import { directoryFault, normalDirectory } from './artifact-path.ts'

const DEFAULT_BRANCH = 'main'
const DEFAULT_ARTIFACT_DIRECTORY = 'dist'
const BRANCH = /^[A-Za-z0-9_][A-Za-z0-9._/+@-]{0,199}$/
/** `git@host:owner/name.git`, as forges show it. */
const SCP_LIKE = /^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[A-Za-z0-9_~./-]+$/

export const SourceMode = Type.Union([Type.Literal('EXTERNAL_REPO'), Type.Literal('SITE_GIT')])
export type SourceMode = Static<typeof SourceMode>

const Url = Type.String({ maxLength: 2048 })
const Branch = Type.String({ maxLength: 200 })
const Directory = Type.String({ maxLength: 512 })

export const Repo = Type.Object({ url: Url, branch: Branch, artifactDirectory: Directory })
export type Repo = Static<typeof Repo>

export const RepoBinding = Type.Object({ branch: Branch, artifactDirectory: Directory })
export type RepoBinding = Static<typeof RepoBinding>

/** Where a site's files come from: exactly one of the two, as the mode says. */
export type SiteSource =
  | { readonly sourceMode: 'EXTERNAL_REPO'; readonly repo: Repo; readonly repoBinding: null }
  | { readonly sourceMode: 'SITE_GIT'; readonly repo: null; readonly repoBinding: RepoBinding }

const closed = { additionalProperties: false }
/** What a caller may send; what is left out stays, or gets its default. */
export const SourceInput = Type.Object({
  sourceMode: Type.Optional(SourceMode),
  repo: Type.Optional(Type.Partial(Repo, closed)),
  repoBinding: Type.Optional(Type.Partial(RepoBinding, closed)),
})
export type SourceInput = Static<typeof SourceInput>

export interface SourceRules {
  /** Whether `file:` URLs are allowed, which reach into the service's own disk. */
  readonly allowFileUrls: boolean
}

/** The source after `input`, starting from `current` or from the defaults. Throws a fault that names the field. */
export function parseSource(
  input: SourceInput,
  current: SiteSource | undefined,
  rules: SourceRules,
): SiteSource {
  const sourceMode = input.sourceMode ?? current?.sourceMode ?? modeOf(input)
  if (sourceMode === 'EXTERNAL_REPO') {
    refuseOther(input.repoBinding, 'repoBinding', sourceMode)
    return {
      sourceMode,
      repo: parseRepo({ ...current?.repo, ...input.repo }, rules),
      repoBinding: null,
    }
  }
  refuseOther(input.repo, 'repo', sourceMode)
  const binding = { ...current?.repoBinding, ...input.repoBinding }
  return { sourceMode, repo: null, repoBinding: parseBinding(binding, 'repoBinding') }
}

/** The configured artifact directory and the name of the field that holds it. */
export function artifactDirectoryOf(source: SiteSource): {
  readonly field: string
  readonly directory: string
} {
  return source.sourceMode === 'EXTERNAL_REPO'
    ? { field: 'repo.artifactDirectory', directory: source.repo.artifactDirectory }
    : { field: 'repoBinding.artifactDirectory', directory: source.repoBinding.artifactDirectory }
}

const modeOf = (input: SourceInput): SourceMode =>
  input.repo === undefined ? 'SITE_GIT' : 'EXTERNAL_REPO'

function refuseOther(value: unknown, field: 'repo' | 'repoBinding', mode: SourceMode): void {
  if (value === undefined) return
  const right = field === 'repo' ? 'repoBinding' : 'repo'
  throw invalid(field, `does not belong to sourceMode "${mode}": send ${right}, or change the mode`)
}

function parseRepo(input: Partial<Repo>, rules: SourceRules): Repo {
  const url = input.url ?? ''
  const fault = urlFault(url, rules)
  if (fault !== undefined) throw invalid('repo.url', fault)
  return { url, ...parseBinding(input, 'repo') }
}

function parseBinding(input: Partial<RepoBinding>, field: string): RepoBinding {
  const branch = input.branch ?? DEFAULT_BRANCH
  if (!isBranch(branch)) {
    throw invalid(`${field}.branch`, `"${branch}" is not the name of a branch, like "main"`)
  }
  const directory = input.artifactDirectory ?? DEFAULT_ARTIFACT_DIRECTORY
  const fault = directoryFault(directory)
  if (fault !== undefined) throw invalid(`${field}.artifactDirectory`, fault)
  return { branch, artifactDirectory: normalDirectory(directory) }
}

/** The names that `git check-ref-format --branch` accepts, less those that look like an option or need quoting. */
const isBranch = (name: string): boolean =>
  BRANCH.test(name) && !/\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$|@\{/.test(name)

function urlFault(text: string, rules: SourceRules): string | undefined {
  if (text === '') return 'is missing: give the repository’s https:// or ssh:// address'
  if (SCP_LIKE.test(text)) return undefined
  if (!URL.canParse(text)) return 'is not an address: give https://…, ssh://… or git@host:path'
  const url = new URL(text)
  const schemes = ['https:', 'ssh:', 'git:', ...(rules.allowFileUrls ? ['file:'] : [])]
  if (!schemes.includes(url.protocol)) {
    return `"${url.protocol}" is not allowed: give https://…, ssh://… or git@host:path`
  }
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    return 'carries credentials: leave them out, and let the service’s git find them (ssh key, credential helper)'
  }
  return undefined
}

/** A source as the database keeps it. */
export function storedSource(row: {
  readonly source_mode: SourceMode
  readonly repo: unknown
  readonly repo_binding: unknown
}): SiteSource {
  if (row.source_mode === 'EXTERNAL_REPO' && isRepo(row.repo)) {
    return { sourceMode: 'EXTERNAL_REPO', repo: row.repo, repoBinding: null }
  }
  if (row.source_mode === 'SITE_GIT' && isBinding(row.repo_binding)) {
    return { sourceMode: 'SITE_GIT', repo: null, repoBinding: row.repo_binding }
  }
  throw new AppError('InternalError', 'The site’s stored source cannot be read')
}

const isRepo = (value: unknown): value is Repo => Value.Check(Repo, value)
const isBinding = (value: unknown): value is RepoBinding => Value.Check(RepoBinding, value)
