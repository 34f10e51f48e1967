import { parseDocument } from 'yaml'

import { AppError } from '#base/app-error.ts'
import { directoryFault, normalDirectory } from '#sites/artifact-path.ts'

export const MAX_BUILD_YML_BYTES = 64 * 1024
const MAX_ALIASES = 50

/** What the service reads of `build.yml`; everything else in it is the build's own business. */
export interface BuildYml {
  /** In the spelling of `normalDirectory`. */
  readonly artifactDirectory: string
}

/** `ARTIFACT_DIR` is at the top level or under `env.variables`. Throws `InvalidArtifact` that says what to write. */
export function parseBuildYml(text: string): BuildYml {
  const root = parseYaml(text)
  const top = directoryIn(root, 'ARTIFACT_DIR')
  const nested = directoryIn(member(member(root, 'env'), 'variables'), 'env.variables.ARTIFACT_DIR')
  const found = top ?? nested
  if (found === undefined) {
    throw fault('names no ARTIFACT_DIR: add a line like "ARTIFACT_DIR: dist" at the top level')
  }
  if (top !== undefined && nested !== undefined && top !== nested) {
    throw fault(`names two artifact directories, "${top}" and "${nested}": keep one`)
  }
  return { artifactDirectory: found }
}

/** Throws `ArtifactDirMismatch` when `build.yml` names another directory than the site's configuration. */
export function checkArtifactDirectory(
  buildYml: BuildYml,
  configured: { readonly field: string; readonly directory: string },
): void {
  const { artifactDirectory } = buildYml
  if (artifactDirectory === configured.directory) return
  throw new AppError(
    'ArtifactDirMismatch',
    `build.yml says ARTIFACT_DIR "${artifactDirectory}", the site's ${configured.field} is "${configured.directory}": make them equal`,
    { fields: { artifactDir: artifactDirectory, configured: configured.directory } },
  )
}

function parseYaml(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_BUILD_YML_BYTES) {
    throw fault(`is longer than ${MAX_BUILD_YML_BYTES} bytes`)
  }
  try {
    const document = parseDocument(text, { schema: 'core', stringKeys: true })
    const [error] = document.errors
    if (error) throw error
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw fault(`is not valid YAML: ${firstLine(error)}`, error)
  }
}

function directoryIn(parent: unknown, name: string): string | undefined {
  const value = member(parent, 'ARTIFACT_DIR')
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw fault(`${name} must be text, like "dist"`)
  const wrong = directoryFault(value)
  if (wrong !== undefined) throw fault(`${name} "${value}" ${wrong}`)
  return normalDirectory(value)
}

function member(parent: unknown, name: string): unknown {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, name))
    return undefined
  return Reflect.get(parent, name)
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : 'it cannot be read').split('\n', 1)[0] ?? ''

const fault = (message: string, cause?: unknown): AppError =>
  new AppError('InvalidArtifact', `build.yml ${message}`, { cause })
