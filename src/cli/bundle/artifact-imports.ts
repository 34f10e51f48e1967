import { readFileSync } from 'node:fs'

import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'

import { CommandError } from '#cli/errors.ts'
import { type ModuleFinder, moduleFinder } from '#platform/sandbox-host/module-finder.ts'
import type { ArtifactFolder, FolderFile } from '#sites/deployments/artifact-folder.ts'
import { codeFilesOf } from '#sites/deployments/model.ts'

import { packageOf } from './import-chain.ts'
import { unresolved } from './problems.ts'

/** `npm:@scope/name@range/path`, or with a slash after the colon, as Deno writes what ends with one. */
const NPM = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@[^/]*)?(\/.*)?$/
const FOLLOWED = Symbol('followed')

/** What the service finds in an artifact by more than a relative path. */
export interface ArtifactImports {
  /** The artifact directory. */
  readonly root: string
  readonly find: ModuleFinder
}

/** Where an import of the site's own code leads. */
export type ImportTarget =
  | { readonly kind: 'file'; readonly path: string }
  /** By the name that it is installed under. */
  | { readonly kind: 'package'; readonly specifier: string; readonly asked: string }
  | { readonly kind: 'refused'; readonly message: string }

/** Reads the import map of an artifact as the service does. Throws a `CommandError` when it cannot be read. */
export function artifactImports(root: string, artifact: ArtifactFolder): ArtifactImports {
  const byPath = (files: readonly FolderFile[]) => new Map(files.map((file) => [file.path, file]))
  const all = byPath(artifact.files)
  const code = byPath(codeFilesOf(artifact.files, { directory: artifact.publicDirectory }))
  const finder = moduleFinder(
    {
      has: (path) => code.has(path),
      get(path) {
        const file = code.get(path)
        return file && readFileSync(file.absolutePath, 'utf8')
      },
    },
    (path) => all.has(path),
  )
  if (!finder.ok) throw new CommandError(finder.message)
  return { root, find: finder.find }
}

/** Undefined for what is to be found as everywhere: relative paths and packages that the import map does not name. */
export function importTarget(
  { path: specifier, importer }: Pick<OnResolveArgs, 'path' | 'importer'>,
  { root, find }: ArtifactImports,
): ImportTarget | undefined {
  if (!importer.startsWith(`${root}/`) || packageOf(importer) !== undefined) return undefined
  const found = find(specifier, importer.slice(root.length + 1))
  if (found?.kind === 'file') return { kind: 'file', path: `${root}/${found.path}` }
  if (found?.kind === 'missing') return { kind: 'refused', message: found.message }
  if (found) return packageTarget(specifier, found.address)
  return NPM.test(specifier) ? packageTarget(specifier, specifier) : undefined
}

function packageTarget(specifier: string, address: string): ImportTarget {
  const asked =
    address === specifier ? '' : `"${specifier}" is led by the import map to "${address}": `
  const [, name, path = ''] = NPM.exec(address) ?? []
  if (name !== undefined) return { kind: 'package', specifier: name + path, asked }
  // Node's own modules have a scheme, too.
  return /^[a-z]+:/.test(address)
    ? { kind: 'refused', message: asked + unresolved(address, []) }
    : { kind: 'package', specifier: address, asked }
}

/** Follows the import map, and names with `npm:`, in the site's own code. Which version is installed is npm's affair. */
export const followArtifactImports = (artifact: ArtifactImports): Plugin => ({
  name: 'artifact-imports',
  setup(build) {
    build.onResolve({ filter: /./ }, async (args) => {
      if (args.kind === 'entry-point' || args.pluginData === FOLLOWED) return undefined
      const target = importTarget(args, artifact)
      if (target === undefined) return undefined
      if (target.kind === 'refused') return { errors: [{ text: target.message }] }
      if (target.kind === 'file') return { path: target.path }
      return installed(build, target, args)
    })
  },
})

async function installed(
  build: PluginBuild,
  { specifier, asked }: Extract<ImportTarget, { kind: 'package' }>,
  { importer, kind, resolveDir, with: attributes }: OnResolveArgs,
): Promise<OnResolveResult> {
  const found = await build.resolve(specifier, {
    importer,
    kind,
    resolveDir,
    with: attributes,
    pluginData: FOLLOWED,
  })
  const [error] = found.errors
  if (error) return { errors: [{ text: asked + unresolved(specifier, error.notes) }] }
  const { path, external, namespace, sideEffects, suffix } = found
  return { path, external, namespace, sideEffects, suffix }
}
