import { join } from 'node:path'

import { AppError } from '#base/app-error.ts'
import {
  type GitSource,
  type TreeEntry,
  readBlob,
  treeEntries,
  treeEntry,
  writeBlobs,
} from '#platform/git/commit-files.ts'
import { pathFault } from '#sites/artifact-path.ts'
import {
  type ArtifactFolder,
  type FolderFile,
  isIgnoredPath,
} from '#sites/deployments/artifact-folder.ts'
import {
  MAX_BUILD_YML_BYTES,
  checkArtifactDirectory,
  parseBuildYml,
} from '#sites/deployments/build-yml.ts'
import { MAX_FILES, checkFiles } from '#sites/deployments/model.ts'

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md#the-pointer */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1'
const FILE_MODES = ['100644', '100755', '100664']

const SPECIAL: Readonly<Record<string, string>> = {
  '120000': 'is a symbolic link: put the file itself into the artifact',
  '160000': 'is a submodule: put its files themselves into the artifact',
}

export interface CommitArtifactRequest {
  readonly commit: string
  /** The site's artifact directory, and the field that says so. */
  readonly configured: { readonly field: string; readonly directory: string }
  /** The absolute path of an empty folder for the files. */
  readonly intoDir: string
}

/** The artifact of a commit, unchanged: nothing is built, and no filter of the repository's is applied. */
export async function commitArtifact(
  source: GitSource,
  { commit, configured, intoDir }: CommitArtifactRequest,
): Promise<Pick<ArtifactFolder, 'buildYml' | 'files'>> {
  const buildYml = await readBuildYml(source, commit)
  const parsed = parseBuildYml(buildYml)
  checkArtifactDirectory(parsed, configured)
  const { artifactDirectory } = parsed
  const entries = await treeEntries(source, commit, artifactDirectory)
  if (entries === undefined) {
    throw fault(
      `The artifact directory "${artifactDirectory}" is not in the commit: build the site, and commit what the build leaves`,
    )
  }
  const files = entries.filter(({ path }) => path === undefined || !isIgnoredPath(path)).map(fileOf)
  if (files.length > MAX_FILES) throw fault(`The artifact has more than ${MAX_FILES} files`)
  // Sizes first: what is too large is not even read.
  checkFiles(files.map(({ oid, path, sizeBytes }) => ({ path, sizeBytes, sha256: oid })))
  return { buildYml, files: await written(source, files, intoDir) }
}

async function readBuildYml(source: GitSource, commit: string): Promise<string> {
  const entry = await treeEntry(source, commit, 'build.yml')
  if (!entry) throw fault('There is no build.yml at the root: add one with "ARTIFACT_DIR: dist"')
  if (!FILE_MODES.includes(entry.mode)) throw fault('build.yml is not a regular file')
  if ((entry.sizeBytes ?? 0) > MAX_BUILD_YML_BYTES) {
    throw fault(`build.yml is longer than ${MAX_BUILD_YML_BYTES} bytes`)
  }
  return (await readBlob(source, entry.oid)).toString()
}

interface CommittedFile {
  readonly oid: string
  readonly path: string
  readonly sizeBytes: number
}

function fileOf({ mode, oid, path, sizeBytes }: TreeEntry): CommittedFile {
  if (path === undefined) throw fault('The artifact has a path that is not valid UTF-8')
  const wrong = SPECIAL[mode]
  if (wrong !== undefined) throw fault(`"${path}" ${wrong}`)
  if (sizeBytes === undefined || !FILE_MODES.includes(mode)) {
    throw fault(`"${path}" is not a regular file`)
  }
  const unfit = pathFault(path)
  if (unfit !== undefined) throw fault(`The path ${JSON.stringify(path)} ${unfit}`)
  return { oid, path, sizeBytes }
}

async function written(
  source: GitSource,
  files: readonly CommittedFile[],
  intoDir: string,
): Promise<FolderFile[]> {
  const pathOf = (oid: string): string => join(intoDir, oid)
  const byOid = Map.groupBy(files, ({ oid }) => oid)
  const found: FolderFile[] = []
  for await (const blob of writeBlobs(source, [...byOid.keys()], pathOf)) {
    for (const { path } of byOid.get(blob.oid) ?? []) {
      if (blob.beginning.toString('latin1').startsWith(LFS_POINTER)) {
        throw fault(
          `"${path}" is a pointer of Git LFS, and not the file: Git LFS is not supported, commit the file itself`,
        )
      }
      const { sha256, sizeBytes, oid } = blob
      found.push({ path, sha256, sizeBytes, absolutePath: pathOf(oid) })
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

const fault = (message: string): AppError => new AppError('InvalidArtifact', message)
