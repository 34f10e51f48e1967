import { AppError } from '#base/app-error.ts'
import type { ArtifactFile } from '#sites/deployments/model.ts'
import { type StaticSettings, isPublicFile } from '#sites/static-settings.ts'

import { HEADERS_FILE } from './headers-file.ts'
import { REDIRECTS_FILE } from './redirects-file.ts'
import { isHiddenPath } from './request-path.ts'
import { isReservedPath } from './reserved-paths.ts'

/** What an artifact has in its public folder. */
export interface PublicFiles {
  /** Paths are inside the folder, in Unicode's form C. */
  readonly files: readonly ArtifactFile[]
  /** The two files that are rules and never served. */
  readonly redirects: ArtifactFile | undefined
  readonly headers: ArtifactFile | undefined
}

/** Leaves out hidden files. Throws `InvalidArtifact` for files that could never be reached. */
export function publicFilesOf(
  artifact: readonly ArtifactFile[],
  settings: StaticSettings,
): PublicFiles {
  const { directory } = settings
  const inside = artifact
    .filter(({ path }) => isPublicFile(path, settings))
    .map((file) => ({ ...file, path: file.path.slice(directory.length + 1).normalize('NFC') }))
  const named = (name: string) => inside.find(({ path }) => path === name)
  const rules = [REDIRECTS_FILE, HEADERS_FILE]
  const files = inside.filter(({ path }) => !rules.includes(path) && !isHiddenPath(path))
  checkReachable(files, settings)
  if (settings.isNamed && inside.length === 0) {
    throw new AppError(
      'InvalidArtifact',
      `croft.json: static.directory "${directory}" has no files: build the site first, or name another folder`,
    )
  }
  checkFallback(files, settings)
  return { files, redirects: named(REDIRECTS_FILE), headers: named(HEADERS_FILE) }
}

function checkReachable(files: readonly ArtifactFile[], settings: StaticSettings): void {
  const { directory, cleanUrls } = settings
  const paths = new Set<string>()
  for (const { path } of files) {
    const clean = cleanUrls ? path.replace(/\.html$/, '') : path
    const reserved = [path, clean].find((each) => isReservedPath(`/${each}`))
    if (reserved !== undefined) {
      throw new AppError(
        'InvalidArtifact',
        `"${directory}/${path}" would be at "/${reserved}", which is a path of the service itself: give it another name`,
      )
    }
    if (paths.has(path)) {
      throw new AppError(
        'InvalidArtifact',
        `"${directory}/${path}" is there twice, in two spellings of the same letters: keep one`,
      )
    }
    paths.add(path)
  }
}

function checkFallback(files: readonly ArtifactFile[], settings: StaticSettings): void {
  const { directory, fallback } = settings
  if (fallback === null || files.some(({ path }) => `/${path}` === fallback)) return
  throw new AppError(
    'InvalidArtifact',
    `croft.json: static.spa is "${fallback}", but there is no file "${directory}${fallback}"`,
  )
}
