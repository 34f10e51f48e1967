import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { buildSdk } from '#scripts/sdk/build-sdk.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const SCRIPT = join(import.meta.dirname, 'outside.js')
const EXAMPLE = join(ROOT, 'examples/hello-site/client/notes.js')

/** A folder outside the repository, in which the package is installed as npm would: from what `npm pack` makes of it. */
export interface InstalledSdk extends AsyncDisposable {
  readonly folder: string
  /** Of the package itself. */
  readonly package: string
  /** Scripts there that use it. */
  readonly script: URL
  readonly example: URL
}

export async function installSdk(): Promise<InstalledSdk> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-sdk-user-'))
  const installed = join(folder, 'node_modules/croft-sdk')
  const built = join(folder, 'built')
  await buildSdk(ROOT, built)
  await mkdir(installed, { recursive: true })
  const pack = ['pack', '--json', '--offline', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, { cwd: built })
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }]
  await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1'])
  await rm(built, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  const copied = async (path: string) => {
    await copyFile(path, join(folder, basename(path)))
    return pathToFileURL(join(folder, basename(path)))
  }
  return {
    folder,
    package: installed,
    script: await copied(SCRIPT),
    example: await copied(EXAMPLE),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}
