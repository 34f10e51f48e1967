import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { pathFault } from '#sites/artifact-path.ts'

import { MAX_BUILD_YML_BYTES } from './build-yml.ts'

export const MAX_FILES = 5_000
export const MAX_FILE_BYTES = 32 * 1024 * 1024
const MAX_ARTIFACT_BYTES = 256 * 1024 * 1024
/** Everything that functions may import: it is compiled as one revision. */
export const MAX_CODE_BYTES = 10 * 1024 * 1024
const CODE = /\.(?:[mc]?[jt]s|json)$/

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
])
export type DeploymentSource = Static<typeof DeploymentSource>

export const DeploymentRecord = Type.Object({
  deploymentId: Type.String(),
  status: Type.Union([Type.Literal('uploading'), Type.Literal('ready'), Type.Literal('failed')]),
  /** Whether the site runs this one. */
  current: Type.Boolean(),
  source: DeploymentSource,
  artifactDirectory: Type.String(),
  fileCount: Type.Integer(),
  sizeBytes: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()]),
  createdAt: Type.String(),
  activatedAt: Type.Union([Type.String(), Type.Null()]),
})
export type DeploymentRecord = Static<typeof DeploymentRecord>

export const BeginDeploymentBody = ClosedObject({
  buildYml: Type.String({ maxLength: MAX_BUILD_YML_BYTES, description: 'the text of build.yml' }),
  files: Type.Array(ArtifactFile, { maxItems: MAX_FILES }),
})

export const PendingDeployment = Type.Object({
  deploymentId: Type.String(),
  /** The contents that the service does not have yet. */
  missing: Type.Array(Sha256),
})
export type PendingDeployment = Static<typeof PendingDeployment>

/** A row of the table `deployment`. */
export interface DeploymentRow {
  readonly deployment_id: string
  readonly status: 'uploading' | 'ready' | 'failed'
  readonly source: unknown
  readonly artifact_directory: string
  readonly files: unknown
  readonly error: string | null
  readonly created_at: Date
  readonly activated_at: Date | null
}

/** A row as the operator sees it. */
export function deploymentRecord(row: DeploymentRow, currentId: string | null): DeploymentRecord {
  const files = storedFiles(row.files)
  return {
    deploymentId: row.deployment_id,
    status: row.status,
    current: row.deployment_id === currentId,
    source: storedDeploymentSource(row.source),
    artifactDirectory: row.artifact_directory,
    fileCount: files.length,
    sizeBytes: totalBytes(files),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    activatedAt: row.activated_at?.toISOString() ?? null,
  }
}

/** Throws a fault that names the file and the limit. */
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

export const totalBytes = (files: readonly ArtifactFile[]): number =>
  files.reduce((sum, file) => sum + file.sizeBytes, 0)

/** Files as the database keeps them. */
export function storedFiles(value: unknown): ArtifactFile[] {
  if (Value.Check(Type.Array(ArtifactFile), value)) return value
  throw new AppError('InternalError', 'The deployment’s stored files cannot be read')
}

function storedDeploymentSource(value: unknown): DeploymentSource {
  if (Value.Check(DeploymentSource, value)) return value
  throw new AppError('InternalError', 'The deployment’s stored source cannot be read')
}

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
  const code = totalBytes(files.filter(({ path }) => isCode(path)))
  if (code > MAX_CODE_BYTES) {
    throw tooMuch(
      `The artifact's scripts and JSON have ${code} bytes together: ${MAX_CODE_BYTES} are allowed`,
    )
  }
}

const tooMuch = (message: string): AppError => new AppError('InvalidArtifact', message)
