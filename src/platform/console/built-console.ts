import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { hasCode } from '#base/error-code.ts'
import { installRoot } from '#config/install-root.ts'
import type { BuiltConsole } from '#console/build.ts'

export type OpenConsole = () => Promise<BuiltConsole>

/** What the build of the service lists beside the files themselves. */
type ListedConsole = Omit<BuiltConsole, 'files'> & {
  readonly files: readonly Omit<BuiltConsole['files'][number], 'bytes'>[]
}

/** In a build. */
const FOLDER = 'console'
const LIST = 'console.json'
/** In the repository. */
const SOURCE = 'packages/console/build.ts'

/** The files of the console: those that were built with the service, or else built now. */
export async function builtConsole(root: string = installRoot()): Promise<BuiltConsole> {
  const folder = join(root, FOLDER)
  const list = await listIn(folder)
  if (!list) return buildFromSource(root)
  const files = list.files.map(async (file) => ({
    ...file,
    bytes: await readFile(join(folder, basename(file.path))),
  }))
  return { ...list, files: await Promise.all(files) }
}

async function listIn(folder: string): Promise<ListedConsole | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, LIST), 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** No build of the service has the bundler's input: the path is put together so that none looks for it. */
async function buildFromSource(root: string): Promise<BuiltConsole> {
  const source = pathToFileURL(join(root, SOURCE)).href
  const { buildConsole }: { readonly buildConsole: OpenConsole } = await import(source)
  return buildConsole()
}
