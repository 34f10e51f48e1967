import { cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { type BuildOptions, build } from 'esbuild'

import { buildPrograms } from '#sandbox/build/build-programs.ts'
import { builtPaths } from '#sandbox/build/built-paths.ts'

import { writeConsole } from './build-console.ts'
import { type LockFile, withoutDevelopment } from './lock-file.ts'
import { buildSdk } from './sdk/build-sdk.ts'

/** Each runs as a process or thread of its own. */
const SERVICE_ENTRIES = { main: 'src/main.ts' }
const CLI_ENTRIES = { 'cli/main': 'src/cli/main.ts' }
const COPIED = [
  'migrations',
  'resources',
  'examples/hello-site',
  'types',
  'LICENSE',
  'README.md',
  'docs',
]
/** Packages of many files that each call of the command line loads: finding them takes longer than reading them. */
const INLINED = new Set(['commander', '@sinclair/typebox'])
/** The only `#…` import that is looked up while running; all others are bundled. */
const RUN_TIME = '#sandbox/*'
/** Where the service looks for what it would otherwise bundle itself: `prelude.js`, and the parts in `parts`. */
const SANDBOX = 'sandbox'
/** The same of the console. */
const CONSOLE = 'console'
const PROGRAMS = ['bin/croft.js', 'bin/prune-packages.js']

const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  external: ['bun', 'bun:*'],
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** Makes in `outDir`, which must be empty or missing, what runs without this repository once its dependencies are installed. */
export async function buildDist(root: string, outDir: string): Promise<void> {
  await requireEmpty(outDir)
  const manifest: Manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const options = { ...OPTIONS, absWorkingDir: root, outdir: outDir }
  await build({
    ...options,
    entryPoints: SERVICE_ENTRIES,
    // What only one runtime can load stays in a file of its own, behind its dynamic import.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [builtPaths],
  })
  await build({
    ...options,
    entryPoints: CLI_ENTRIES,
    splitting: true,
    chunkNames: 'cli/chunks/[name]-[hash]',
    packages: 'bundle',
    external: [
      ...OPTIONS.external,
      ...Object.keys(manifest.dependencies).filter((name) => !INLINED.has(name)),
    ],
    plugins: [builtPaths],
  })
  await buildPrograms(join(outDir, SANDBOX))
  await writeConsole(join(outDir, CONSOLE))
  await Promise.all(COPIED.map((path) => copy(join(root, path), join(outDir, path))))
  await buildSdk(root, join(outDir, 'sdk'))
  for (const program of PROGRAMS) {
    await mkdir(join(outDir, dirname(program)), { recursive: true })
    await writeFile(join(outDir, program), await readFile(join(root, program)), { mode: 0o755 })
  }
  await writeJson(join(outDir, 'package.json'), builtManifest(manifest))
  const lock: LockFile = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  await writeJson(join(outDir, 'package-lock.json'), withoutDevelopment(lock))
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly imports: Readonly<Record<string, string | undefined>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The dependencies of production stay as they are, so that the lock file fits. */
export function builtManifest(manifest: Manifest): Manifest {
  const { imports, devDependencies: _, ...rest } = manifest
  const { start, postinstall } = manifest.scripts
  if (start === undefined) throw new Error('package.json has no script "start"')
  if (postinstall === undefined) throw new Error('package.json has no script "postinstall"')
  return { ...rest, scripts: { start, postinstall }, imports: { [RUN_TIME]: imports[RUN_TIME] } }
}

const writeJson = (path: string, content: object): Promise<void> =>
  writeFile(path, `${JSON.stringify(content, null, 2)}\n`)

async function requireEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) {
    throw new Error(`"${folder}" is not empty: build into a folder that is empty or does not exist`)
  }
}

const copy = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
