import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { pathFault } from '#sites/artifact-path.ts'
import { type StaticSettings, isPublicFile } from '#sites/static-settings.ts'

import { ActivationRecord } from './activation-record.ts'
import { MAX_BUILD_YML_BYTES } from './build-yml.ts'
import { Deployer } from './deployer.ts'
import { GitState } from './git-state.ts'
import { stored, storedDeployer, storedGitState } from './stored-json.ts'

export const MAX_FILES = 5_000
export const MAX_FILE_BYTES = 32 * 1024 * 1024
const MAX_ARTIFACT_BYTES = 256 * 1024 * 1024
/** Everything that functions may import: it is compiled as one revision. */
export const MAX_CODE_BYTES = 10 * 1024 * 1024
/** One file that functions read, and all of them together: every function that reads any has them all in memory. */
const MAX_DATA_FILE_BYTES = 1024 * 1024
const MAX_DATA_BYTES = 4 * 1024 * 1024
const CODE = /\.(?:[mc]?[jt]sx?|jsonc?)$/

export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'lower-case hex' })

export const ArtifactFile = ClosedObject({
  path: Type.String({ description: 'inside the artifact directory' }),
  sha256: Sha256,
  sizeBytes: Type.Integer({ minimum: 0 }),
})
export type ArtifactFile = Static<typeof ArtifactFile>

/** Where an artifact came from. */
export const DeploymentSource = Type.Union([
  Type.Object({ type: Type.Literal('folder') }),
  Type.Object({
    type: Type.Literal('repo'),
    url: Type.String(),
    branch: Type.String(),
    commit: Type.String(),
  }),
  /** The site's own repository. */
  Type.Object({
    type: Type.Literal('git'),
    branch: Type.String(),
    commit: Type.String(),
  }),
])
export type DeploymentSource = Static<typeof DeploymentSource>

export const DeploymentRecord = Type.Object(
  {
    deploymentId: Type.String(),
    /** `removed`: too old to go back to, its files are gone. */
    status: Type.Union([
      Type.Literal('uploading'),
      Type.Literal('ready'),
      Type.Literal('failed'),
      Type.Literal('removed'),
    ]),
    /** Whether the site runs this one. */
    current: Type.Boolean(),
    source: DeploymentSource,
    artifactDirectory: Type.String(),
    fileCount: Type.Integer(),
    sizeBytes: Type.Integer(),
    error: Type.Union([Type.String(), Type.Null()]),
    /** Null for what was deployed before this was recorded. */
    deployedBy: Type.Union([Deployer, Type.Null()]),
    /** Null when the files are not known to be of a repository. */
    git: Type.Union([GitState, Type.Null()]),
    createdAt: Type.String(),
    /** When it became current last. */
    activatedAt: Type.Union([Type.String(), Type.Null()]),
    /** Each time that it became current, newest first; the last ten. */
    activations: Type.Array(ActivationRecord),
  },
  { title: 'Deployment' },
)
export type DeploymentRecord = Static<typeof DeploymentRecord>

export const BeginDeploymentBody = ClosedObject({
  buildYml: Type.String({ maxLength: MAX_BUILD_YML_BYTES, description: 'the text of build.yml' }),
  files: Type.Array(ArtifactFile, { maxItems: MAX_FILES }),
  git: Type.Optional(GitState),
})

export const PendingDeployment = Type.Object({
  deploymentId: Type.String(),
  /** The contents that the service does not have yet. */
  missing: Type.Array(Sha256),
})
export type PendingDeployment = Static<typeof PendingDeployment>

/** A row of the table `deployment` without its list of files. */
export interface DeploymentSummaryRow {
  readonly deployment_id: string
  readonly status: DeploymentRecord['status']
  readonly source: unknown
  readonly artifact_directory: string
  readonly file_count: number
  readonly size_bytes: string
  readonly error: string | null
  readonly deployed_by: unknown
  readonly git: unknown
  readonly created_at: Date
  readonly activated_at: Date | null
}

/** A row of the table `deployment`. */
export interface DeploymentRow extends DeploymentSummaryRow {
  readonly files: unknown
}

/** A row as the operator sees it. */
export function deploymentRecord(
  row: DeploymentSummaryRow,
  currentId: string | null,
  activations: readonly ActivationRecord[],
): DeploymentRecord {
  return {
    deploymentId: row.deployment_id,
    status: row.status,
    current: row.deployment_id === currentId,
    source: stored(DeploymentSource, row.source, 'source'),
    artifactDirectory: row.artifact_directory,
    fileCount: row.file_count,
    sizeBytes: Number(row.size_bytes),
    error: row.error,
    deployedBy: storedDeployer(row.deployed_by),
    git: storedGitState(row.git),
    createdAt: row.created_at.toISOString(),
    activatedAt: row.activated_at?.toISOString() ?? null,
    activations: [...activations],
  }
}

/** Throws a fault that names the file and the limit. What of it is code is judged by `checkCode`. */
export function checkFiles(files: readonly ArtifactFile[]): void {
  if (files.length === 0) throw tooMuch('The artifact is empty: build the site first')
  if (files.length > MAX_FILES) throw tooMuch(`The artifact has more than ${MAX_FILES} files`)
  const paths = new Set<string>()
  const sizes = new Map<string, number>()
  for (const file of files) {
    checkFile(file)
    if (paths.has(file.path)) throw invalid('files', `"${file.path}" is listed twice`)
    paths.add(file.path)
    if ((sizes.get(file.sha256) ?? file.sizeBytes) !== file.sizeBytes) {
      throw invalid('files', `"${file.path}" has the sha256 of another file but not its size`)
    }
    sizes.set(file.sha256, file.sizeBytes)
  }
  checkTotals(files)
}

export const isCode = (path: string): boolean => CODE.test(path)

/** Scripts and JSON that functions may import. What is public is for browsers. */
export const codeFilesOf = <File extends ArtifactFile>(
  files: readonly File[],
  settings: Pick<StaticSettings, 'directory'>,
): File[] => files.filter(({ path }) => isCode(path) && !isPublicFile(path, settings))

/**
 * Files of any other kind that functions may import or read while they run, in the order of their paths: those that are not
 * too large, until they are too many.
 */
export function dataFilesOf<File extends ArtifactFile>(
  files: readonly File[],
  settings: Pick<StaticSettings, 'directory'>,
): File[] {
  let room = MAX_DATA_BYTES
  return files
    .filter(({ path }) => !isCode(path) && !path.endsWith('.map') && !isPublicFile(path, settings))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .filter(({ sizeBytes }) => {
      const fits = sizeBytes <= MAX_DATA_FILE_BYTES && sizeBytes <= room
      if (fits) room -= sizeBytes
      return fits
    })
}

/** Throws a fault that names the limit. */
export function checkCode(files: readonly ArtifactFile[]): void {
  const code = totalBytes(files)
  if (code > MAX_CODE_BYTES) {
    throw tooMuch(
      `The artifact's scripts and JSON have ${code} bytes together: ${MAX_CODE_BYTES} are allowed`,
    )
  }
}

export const totalBytes = (files: readonly ArtifactFile[]): number =>
  files.reduce((sum, file) => sum + file.sizeBytes, 0)

/** Files as the database keeps them. */
export const storedFiles = (value: unknown): ArtifactFile[] =>
  stored(Type.Array(ArtifactFile), value, 'files')

function checkFile({ path, sizeBytes }: ArtifactFile): void {
  const fault = pathFault(path)
  if (fault !== undefined) throw invalid('files', `the path ${JSON.stringify(path)} ${fault}`)
  if (sizeBytes > MAX_FILE_BYTES) {
    throw tooMuch(`"${path}" has ${sizeBytes} bytes: a file may have ${MAX_FILE_BYTES}`)
  }
}

function checkTotals(files: readonly ArtifactFile[]): void {
  const total = totalBytes(files)
  if (total > MAX_ARTIFACT_BYTES) {
    throw tooMuch(`The artifact has ${total} bytes: ${MAX_ARTIFACT_BYTES} are allowed`)
  }
}

const tooMuch = (message: string): AppError => new AppError('InvalidArtifact', message)
