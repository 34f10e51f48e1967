import { createHash } from 'node:crypto'
import { basename } from 'node:path'

import type {
  BuildOptions,
  BuildResult,
  Metafile,
  OnResolveArgs,
  OnResolveResult,
  OutputFile,
  Plugin,
} from 'esbuild'

import { type ArtifactImports, followArtifactImports, importTarget } from './artifact-imports.ts'
import { type Esbuild, NEEDS_BUNDLER, READING } from './esbuild.ts'
import { packageOf } from './import-chain.ts'
import {
  type Problem,
  leaveUnresolved,
  messagesOf,
  problemsOf,
  refusedImports,
  remainingBuiltIns,
  unresolvedBuiltIns,
} from './problems.ts'

/** One function to be bundled. */
export interface Entry {
  /** The folder that messages are relative to: the one with the `build.yml`. */
  readonly folder: string
  /** Of the artifact, with its directory. */
  readonly imports: ArtifactImports
  /** Inside the artifact. */
  readonly path: string
}

export interface FunctionBundle {
  readonly path: string
  /** What takes the place of the entry, and what it leads to; by path inside the artifact. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What is in the bundle, from which input. */
  readonly inputs: Metafile['outputs'][string]['inputs']
  /** What works as long as it is never reached. */
  readonly warnings: readonly string[]
}

export type Bundling =
  | { readonly ok: true; readonly bundle: FunctionBundle }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** As far as it is changed here. */
interface SourceMapFile {
  readonly sources: readonly string[]
  readonly sourcesContent: readonly (string | null)[]
}

type Format = 'esm' | 'cjs'
type Built = BuildResult<{ write: false; metafile: true }>

/**
 * Whether a function imports what the service cannot find in an artifact. Reads imports as the service does, types taken
 * off; code that cannot be read is left to the service, which refuses it by its place.
 */
export async function needsBundle({ build }: Esbuild, entry: Entry): Promise<boolean> {
  let needed = false
  const plugin: Plugin = {
    name: 'needs-bundle',
    setup(build) {
      build.onResolve({ filter: /./ }, (args) => {
        if (args.kind === 'entry-point') return undefined
        const reached = reachedBy(args, entry.imports)
        // The sandbox has no import() of its own.
        needed ||= args.kind === 'dynamic-import' || reached === 'bundler'
        return typeof reached === 'object' ? reached : { path: args.path, external: true }
      })
    },
  }
  const options: BuildOptions = {
    ...optionsOf(entry, 'esm'),
    sourcemap: false,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    plugins: [plugin],
  }
  await build(options).catch(messagesOf)
  return needed
}

/** What finds an import: the bundler alone; the service, in a file that imports nothing; or both, and esbuild reads on. */
function reachedBy(
  args: OnResolveArgs,
  imports: ArtifactImports,
): 'bundler' | 'service' | OnResolveResult {
  const target = importTarget(args, imports) ?? { kind: 'file', path: undefined }
  const isFile = target.kind === 'file' && !/^[^./]/.test(target.path ?? args.path)
  if (!isFile) return 'bundler'
  if (args.with['type'] !== undefined) return 'service'
  if (NEEDS_BUNDLER.test(target.path ?? args.path)) return 'bundler'
  return target.path === undefined ? {} : { path: target.path }
}

/** Bundles one function with all that it imports. */
export async function bundleFunction(esbuild: Esbuild, entry: Entry): Promise<Bundling> {
  const built = await buildLenient(esbuild, entry, 'esm')
  if ('problems' in built) return { ok: false, problems: built.problems }
  const { inputs } = built.result.metafile
  const isCommonJs = inputs[entryInput(built.result.metafile)]?.format === 'cjs'
  if (!isCommonJs) return { ok: true, bundle: bundleOf(entry, built.result, 'esm') }
  const again = await buildLenient(esbuild, entry, 'cjs')
  if ('problems' in again) return { ok: false, problems: again.problems }
  return { ok: true, bundle: bundleOf(entry, again.result, 'cjs') }
}

/** Node's own modules are only refused where they are left in the bundle: what is never used may name them. */
async function buildLenient(
  { build }: Esbuild,
  entry: Entry,
  format: Format,
): Promise<{ readonly result: Built } | { readonly problems: readonly Problem[] }> {
  const attempt = (unresolved: readonly string[]) =>
    build({
      ...optionsOf(entry, format),
      plugins: [followArtifactImports(entry.imports), refusedImports, leaveUnresolved(unresolved)],
    }).then(
      (result) => ({ result }),
      (error: unknown) => ({ errors: messagesOf(error) }),
    )
  const first = await attempt([])
  if ('result' in first) return first
  const builtIns = unresolvedBuiltIns(first.errors)
  const second = await attempt(builtIns)
  if ('errors' in second) return { problems: problemsOf(first.errors) }
  const problems = remainingBuiltIns(second.result.metafile, {
    errors: first.errors,
    entry: entryInput(second.result.metafile),
  })
  return problems.length === 0 ? second : { problems }
}

const optionsOf = ({ folder, imports: { root }, path }: Entry, format: Format) =>
  ({
    ...READING,
    absWorkingDir: folder,
    entryPoints: [`${root}/${path}`],
    outfile: `${root}/${outfileOf(path, format)}`,
    format,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'external',
    logOverride: {
      'unsupported-dynamic-import': 'warning',
      'unsupported-require-call': 'warning',
      'indirect-require': 'warning',
    },
  }) as const satisfies BuildOptions

/** As esbuild names the entry. */
const entryInput = ({ outputs }: Metafile): string =>
  Object.values(outputs).find(({ entryPoint }) => entryPoint !== undefined)?.entryPoint ?? ''

const outfileOf = (path: string, format: Format): string =>
  `${path}.bundle.${format === 'esm' ? 'mjs' : 'cjs'}`

/**
 * `save.ts` becomes `save.ts.0123456789ab.bundle.mjs`: a name of its own, so that no types are looked for in it, which says
 * what is in it, so that the service finds the map of whatever code it names in a stack.
 */
function bundlePath(path: string, format: Format, contents: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const bytes of contents) hash.update(bytes)
  return outfileOf(`${path}.${hash.digest('hex').slice(0, 12)}`, format)
}

function bundleOf(
  { path }: Entry,
  { outputFiles, metafile, warnings }: Built,
  format: Format,
): FunctionBundle {
  const outfile = outfileOf(path, format)
  const code = contentsOf(outputFiles, outfile)
  const map = withoutPackages(contentsOf(outputFiles, `${outfile}.map`))
  const bundled = bundlePath(path, format, [code, map])
  const output = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined)
  if (!output) throw new Error(`esbuild made nothing of "${path}"`)
  return {
    path,
    files: new Map<string, Uint8Array>([
      [path, Buffer.from(leadTo(bundled, format, output.exports))],
      [bundled, code],
      [`${bundled}.map`, map],
    ]),
    inputs: output.inputs,
    warnings: problemsOf(warnings).map(({ text }) => text),
  }
}

/** The bundle's exports, under the path that the function is bound to. */
function leadTo(bundled: string, format: Format, names: readonly string[]): string {
  const from = JSON.stringify(`./${basename(bundled)}`)
  if (format === 'cjs') return `module.exports = require(${from})\n`
  if (names.length === 0) return `import ${from}\n`
  const exported = names.map((name) => (/^[\w$]+$/.test(name) ? name : JSON.stringify(name)))
  return `export { ${exported.join(', ')} } from ${from}\n`
}

/** The site's own sources go with the map, so that a fault can be shown in its line; those of packages are public. */
function withoutPackages(bytes: Uint8Array): Uint8Array {
  const map: SourceMapFile = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const sourcesContent = map.sourcesContent.map((content, at) =>
    packageOf(map.sources[at] ?? '') === undefined ? content : null,
  )
  return Buffer.from(JSON.stringify({ ...map, sourcesContent }))
}

function contentsOf(files: readonly OutputFile[], name: string): Uint8Array {
  const file = files.find(({ path }) => path.endsWith(name))
  if (!file) throw new Error(`esbuild made no "${name}"`)
  return file.contents
}
