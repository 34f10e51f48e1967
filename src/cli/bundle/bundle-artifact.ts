import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, readFile, realpath, writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { withTimeout } from '#base/with-timeout.ts'
import { CommandError } from '#cli/errors.ts'
import type { ArtifactFolder, FolderFile } from '#sites/deployments/artifact-folder.ts'
import { codeFilesOf, totalBytes } from '#sites/deployments/model.ts'

import { artifactImports } from './artifact-imports.ts'
import {
  type Bundling,
  type Entry,
  type FunctionBundle,
  bundleFunction,
  needsBundle,
} from './bundle-function.ts'
import { type BundleSize, bundleSize, sizeFault } from './bundle-size.ts'
import { type Esbuild, withEsbuild } from './esbuild.ts'
import { functionEntries } from './function-entries.ts'

const DEFINITION_FILE = 'croft.json'
const SCRIPT = /\.[cm]?[jt]s$/
const SHOWN_PROBLEMS = 10

/** How long one function may take to be bundled. */
const MAX_MS = 60_000
const PROGRESS_EVERY_MS = 5000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** An artifact whose functions bring their packages with them. Disposing removes the files that were made for it. */
export interface BundledArtifact extends AsyncDisposable {
  readonly artifact: ArtifactFolder
  /** Of the functions that were bundled; those without packages stay as they are. */
  readonly bundles: readonly BundleSize[]
}

export interface BundleRequest extends BundlingTime {
  /** The folder with the `build.yml`. */
  readonly folder: string
  readonly artifact: ArtifactFolder
  /** Files of functions that no `croft.json` of the artifact names. */
  readonly bound: readonly string[]
}

interface BundlingTime {
  /** A line about what goes on. */
  readonly progress: (line: string) => void
  /** Milliseconds for one function; 60 000 when left out. */
  readonly maxMs?: number | undefined
}

/** Bundles each function that imports packages. Throws a `CommandError` with what every function cannot be bundled for. */
export async function bundleArtifact(request: BundleRequest): Promise<BundledArtifact> {
  const { artifact } = request
  const entries = await entriesOf(request)
  const bundles =
    entries.length === 0 ? [] : await withEsbuild((esbuild) => bundleAll(esbuild, request, entries))
  const temporary = await temporaryFolder('croft-bundle-')
  const remove = () => temporary[Symbol.asyncDispose]()
  try {
    const made = await Promise.all(bundles.map((bundle) => writeBundle(temporary.path, bundle)))
    const files = replaced(artifact.files, made.flat())
    const sizes = bundles.map(bundleSize)
    const fault =
      sizes.length === 0
        ? undefined
        : sizeFault(totalBytes(codeFilesOf(files, { directory: artifact.publicDirectory })), sizes)
    if (fault !== undefined) throw new CommandError(fault)
    return { artifact: { ...artifact, files }, bundles: sizes, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function entriesOf({ artifact, bound }: BundleRequest): Promise<readonly FolderFile[]> {
  const files = new Map(artifact.files.map((file) => [file.path, file]))
  const definition = files.get(DEFINITION_FILE)
  const defined = definition ? functionEntries(await jsonOf(definition)) : []
  return [...new Set([...defined, ...bound])].flatMap((path) => {
    const file = SCRIPT.test(path) ? files.get(path) : undefined
    return file ? [file] : []
  })
}

/** What is no JSON is the service's to refuse. */
async function jsonOf({ absolutePath }: FolderFile): Promise<unknown> {
  const text = await readFile(absolutePath, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function bundleAll(
  esbuild: Esbuild,
  { folder, artifact, ...time }: BundleRequest,
  files: readonly FolderFile[],
): Promise<readonly FunctionBundle[]> {
  const bundles: FunctionBundle[] = []
  const problems: string[] = []
  const realFolder = await realpath(folder)
  for (const { path, absolutePath } of files) {
    // esbuild names files by where links lead.
    const root = await realpath(absolutePath.slice(0, -path.length - 1))
    const entry = { folder: realFolder, imports: artifactImports(root, artifact), path }
    const bundling = await withinTime(path, () => bundleIfNeeded(esbuild, entry), time)
    if (bundling === undefined) continue
    if (bundling.ok) bundles.push(bundling.bundle)
    else problems.push(...bundling.problems.map(({ text }) => text))
  }
  if (problems.length > 0) throw new CommandError(refusal([...new Set(problems)]))
  return bundles
}

const bundleIfNeeded = async (esbuild: Esbuild, entry: Entry): Promise<Bundling | undefined> =>
  (await needsBundle(esbuild, entry)) ? bundleFunction(esbuild, entry) : undefined

function refusal(problems: readonly string[]): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((problem) => `  ${problem}`)
  const rest = problems.length - shown.length
  return [
    'the functions cannot be bundled with their packages; nothing was changed',
    ...shown,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n')
}

function writeBundle(temporary: string, { files }: FunctionBundle): Promise<FolderFile[]> {
  return Promise.all(
    [...files].map(async ([path, bytes]) => {
      const absolutePath = join(temporary, path)
      await mkdir(dirname(absolutePath), { recursive: true })
      await writeFile(absolutePath, bytes)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { path, sha256, sizeBytes: bytes.byteLength, absolutePath }
    }),
  )
}

function replaced(
  files: readonly FolderFile[],
  made: readonly FolderFile[],
): readonly FolderFile[] {
  const byPath = new Map([...files, ...made].map((file) => [file.path, file]))
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Rejects when `work` takes too long. It goes on then: the caller ends it. */
async function withinTime<Result>(
  path: string,
  work: () => Promise<Result>,
  { progress, maxMs = MAX_MS }: BundlingTime,
): Promise<Result> {
  const startedMs = performance.now()
  const telling = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    progress(`Bundling "${path}": ${seconds} s of at most ${maxMs / 1000} s`)
  }, PROGRESS_EVERY_MS)
  try {
    return await withTimeout(work(), maxMs, () => {
      throw new CommandError(tooLong(path, maxMs))
    })
  } finally {
    clearInterval(telling)
  }
}

const tooLong = (path: string, maxMs: number): string =>
  `"${path}" was not bundled within ${maxMs / 1000} s; nothing was changed. It reaches too many modules, or its modules pass "export *" on to one another in too many ways: export and import by name there`

/** A folder that goes when it is disposed of, or with a signal that ends the program. */
async function temporaryFolder(
  prefix: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  const onSignal = (signal: NodeJS.Signals): void => {
    rmSync(path, { recursive: true, force: true })
    forget()
    process.kill(process.pid, signal)
  }
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    path,
    async [Symbol.asyncDispose]() {
      forget()
      await rm(path, { recursive: true, force: true })
    },
  }
}
