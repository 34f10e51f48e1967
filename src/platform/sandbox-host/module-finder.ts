import { type ArtifactTexts, readImportMap } from '#sandbox/modules/import-map.ts'
import { findFile } from '#sandbox/modules/module-imports.ts'

/** Where an import leads by the import map, or from the root of the artifact on. */
type FoundImport =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'elsewhere'; readonly address: string }
  | { readonly kind: 'missing'; readonly message: string }

/** Undefined for what neither the import map names nor begins with a slash. */
export type ModuleFinder = (specifier: string, referrer: string) => FoundImport | undefined

/** Finds modules as the sandbox does, for bundling them before they get there. */
export function moduleFinder(
  texts: ArtifactTexts,
  exists: (path: string) => boolean,
): { readonly ok: true; readonly find: ModuleFinder } | { readonly ok: false; message: string } {
  const reading = readImportMap(texts)
  if (!reading.ok) return reading
  const find: ModuleFinder = (specifier, referrer) => {
    const mapped = reading.map.resolve(specifier, referrer)
    if (mapped === undefined && !/^\/(?!\/)/.test(specifier)) return undefined
    if (mapped !== undefined && !/^[./]/.test(mapped)) return { kind: 'elsewhere', address: mapped }
    const found = findFile({ specifier, referrer, mapped }, exists)
    return found.ok
      ? { kind: 'file', path: found.path }
      : { kind: 'missing', message: found.message }
  }
  return { ok: true, find }
}
