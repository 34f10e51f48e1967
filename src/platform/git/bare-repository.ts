import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { runGit } from './git-process.ts'

const PACK_NAME = /^pack-[0-9a-f]{40,64}$/

/**
 * Hands what is pushed to the service, on descriptor 3, prints what it says and ends as it decides. When the service is gone
 * the descriptor is at its end, and nothing is taken.
 */
const PRE_RECEIVE = `#!/bin/sh
{ printf '%s\\n' "$GIT_OBJECT_DIRECTORY"; cat; echo .; } >&3 || exit 1
while IFS= read -r line <&3; do
  case $line in
    accept) exit 0 ;;
    refuse) exit 1 ;;
    +*) printf '%s\\n' "\${line#+}" >&2 ;;
  esac
done
echo 'The service ended before it had decided: push again' >&2
exit 1
`

/** What one ref points to. */
export interface GitRef {
  /** In full: `refs/heads/main`. */
  readonly name: string
  readonly oid: string
}

export interface RepositoryView {
  /** The absolute path of a folder that is not there yet. */
  readonly gitDir: string
  /** The absolute path of the objects, which other views share. */
  readonly objectsDir: string
  /** The absolute path of the folder with our hooks. */
  readonly hooksDir: string
  readonly headBranch: string
  readonly refs: readonly GitRef[]
  readonly maxPushBytes: number
}

export async function writeHooks(hooksDir: string): Promise<void> {
  await mkdir(hooksDir, { recursive: true, mode: 0o700 })
  const path = join(hooksDir, 'pre-receive')
  await writeFile(path, PRE_RECEIVE)
  await chmod(path, 0o700)
}

/** A bare repository as one request sees it: its own refs, over objects that are shared. To be removed afterwards. */
export async function writeView(view: RepositoryView): Promise<void> {
  const { gitDir, objectsDir, headBranch, refs } = view
  await mkdir(join(gitDir, 'refs'), { recursive: true, mode: 0o700 })
  await symlink(objectsDir, join(gitDir, 'objects'))
  const packed = refs.map(({ name, oid }) => `${oid} ${name}\n`).join('')
  await writeFile(join(gitDir, 'packed-refs'), packed)
  await writeFile(join(gitDir, 'config'), configOf(view))
  await writeFile(join(gitDir, 'HEAD'), `ref: refs/heads/${headBranch}\n`)
}

export const removeView = (gitDir: string): Promise<void> =>
  rm(gitDir, { recursive: true, force: true })

/** Whether a pack is there, index and all: that is written last. */
export const hasPack = (objectsDir: string, pack: string): Promise<boolean> =>
  stat(join(packDir(objectsDir), `${packName(pack)}.idx`)).then(
    () => true,
    () => false,
  )

/** Brings in a pack and makes its index. The pack is checked against its own checksum. */
export async function addPack(
  { objectsDir, gitDir }: Pick<RepositoryView, 'objectsDir' | 'gitDir'>,
  pack: string,
  source: { readonly body: ReadableStream<Uint8Array>; readonly signal: AbortSignal },
): Promise<void> {
  const { body, signal } = source
  const folder = packDir(objectsDir)
  const path = join(folder, packName(pack))
  const incoming = `${path}.incoming`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await pipeline(Readable.from(chunksOf(body)), createWriteStream(incoming), { signal })
  await rename(incoming, `${path}.pack`)
  const args = ['index-pack', '--threads=1', '-o', `${path}.incoming.idx`, `${path}.pack`]
  await runGit({ args, gitDir, signal })
  await rename(`${path}.incoming.idx`, `${path}.idx`)
}

const packDir = (objectsDir: string): string => join(objectsDir, 'pack')

/** Names come from git itself by way of the database; nothing else becomes part of a path. */
function packName(pack: string): string {
  if (PACK_NAME.test(pack)) return pack
  throw new Error(`"${pack}" is not the name of a pack`)
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/**
 * Objects are checked as they come and kept as packs. No dumb protocol, no upkeep by git itself, and no more memory than a few
 * windows: a repository may be larger than what one of its processes may hold.
 */
const configOf = ({ hooksDir, maxPushBytes }: RepositoryView): string => `[core]
	repositoryformatversion = 0
	bare = true
	logAllRefUpdates = false
	hooksPath = ${hooksDir}
	fsmonitor = false
	bigFileThreshold = 8m
	packedGitWindowSize = 16m
	packedGitLimit = 128m
	deltaBaseCacheLimit = 32m
[transfer]
	fsckObjects = true
	unpackLimit = 1
[receive]
	maxInputSize = ${maxPushBytes}
	unpackLimit = 1
	autogc = false
	advertiseAtomic = false
	advertisePushOptions = false
	denyDeleteCurrent = refuse
	updateServerInfo = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	threads = 1
	windowMemory = 64m
	deltaCacheSize = 16m
[http]
	getanyfile = false
	uploadpack = true
	receivepack = true
[uploadpack]
	allowFilter = true
	keepAlive = 15
`
