import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, opendir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import { pathFault } from '#sites/artifact-path.ts'
import { SITE_DEFINITION_FILE, parseStaticSettings } from '#sites/static-settings.ts'

import { type BuildYml, MAX_BUILD_YML_BYTES, parseBuildYml } from './build-yml.ts'
import {
  type ArtifactFile,
  MAX_FILES,
  MAX_FILE_BYTES,
  checkCode,
  checkFiles,
  codeFilesOf,
} from './model.ts'

/** Neither history nor installed packages are part of what a site publishes, also when the artifact is the whole repository. */
const IGNORED = new Set(['.git', 'node_modules'])

/** Whether a path has a part that is left out. */
export const isIgnoredPath = (path: string): boolean =>
  path.split('/').some((part) => IGNORED.has(part))

/** A folder with a `build.yml`, read and measured. */
export interface ArtifactFolder {
  /** The text of `build.yml`. */
  readonly buildYml: string
  /** By path inside the artifact directory, in order. */
  readonly files: readonly FolderFile[]
  /** The folder of the artifact that is served, and holds no code of functions. */
  readonly publicDirectory: string
}

export interface FolderFile extends ArtifactFile {
  readonly absolutePath: string
}

/**
 * Reads `folder/build.yml` and hashes every file of its `ARTIFACT_DIR`. `check` sees the parsed `build.yml` before any
 * file is read. Symbolic links and other special files are refused by name: they could lead out of the folder.
 */
export async function scanArtifact(
  folder: string,
  check: (buildYml: BuildYml) => void = () => {},
): Promise<ArtifactFolder> {
  const buildYml = await readBuildYml(folder)
  const parsed = parseBuildYml(buildYml)
  check(parsed)
  const root = await artifactRoot(folder, parsed.artifactDirectory)
  const files: FolderFile[] = []
  for await (const path of walk(root, '')) {
    if (files.length === MAX_FILES) throw fault(`The artifact has more than ${MAX_FILES} files`)
    files.push(await measure(root, path))
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  checkFiles(files)
  const settings = parseStaticSettings(await definitionIn(files))
  checkCode(codeFilesOf(files, settings))
  return { buildYml, files, publicDirectory: settings.directory }
}

async function definitionIn(files: readonly FolderFile[]): Promise<string | undefined> {
  const file = files.find(({ path }) => path === SITE_DEFINITION_FILE)
  if (!file) return undefined
  checkCode([file])
  return readFile(file.absolutePath, 'utf8')
}

async function readBuildYml(folder: string): Promise<string> {
  const path = join(folder, 'build.yml')
  const stats = await statOf(path)
  if (!stats) throw fault('There is no build.yml at the root: add one with "ARTIFACT_DIR: dist"')
  if (!stats.isFile()) throw fault('build.yml is not a regular file')
  if (stats.size > MAX_BUILD_YML_BYTES) {
    throw fault(`build.yml is longer than ${MAX_BUILD_YML_BYTES} bytes`)
  }
  return readFile(path, 'utf8')
}

async function artifactRoot(folder: string, directory: string): Promise<string> {
  let path = folder
  for (const part of directory === '.' ? [] : directory.split('/')) {
    path = join(path, part)
    const stats = await statOf(path)
    if (!stats)
      throw fault(`The artifact directory "${directory}" is not there: build the site first`)
    if (!stats.isDirectory()) throw fault(`The artifact directory "${directory}" is not a folder`)
  }
  return path
}

async function* walk(root: string, below: string): AsyncGenerator<string> {
  for await (const entry of await opendir(join(root, below))) {
    if (IGNORED.has(entry.name)) continue
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    const wrong = pathFault(path)
    if (wrong !== undefined) throw fault(`The path ${JSON.stringify(path)} ${wrong}`)
    if (entry.isDirectory()) yield* walk(root, path)
    else if (entry.isFile()) yield path
    else if (entry.isSymbolicLink()) {
      throw fault(`"${path}" is a symbolic link: put the file itself into the artifact`)
    } else throw fault(`"${path}" is not a regular file`)
  }
}

async function measure(root: string, path: string): Promise<FolderFile> {
  const absolutePath = join(root, path)
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of createReadStream(absolutePath)) {
    const bytes: Buffer = chunk
    sizeBytes += bytes.byteLength
    if (sizeBytes > MAX_FILE_BYTES) {
      throw fault(`"${path}" is too long: a file may have ${MAX_FILE_BYTES} bytes`)
    }
    hash.update(bytes)
  }
  return { path, sha256: hash.digest('hex'), sizeBytes, absolutePath }
}

async function statOf(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

const fault = (message: string): AppError => new AppError('InvalidArtifact', message)
