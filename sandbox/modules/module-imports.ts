import type { ModuleSource } from '#sandbox/protocol/protocol.ts'

import { DATA_URL, readsFiles } from './data-files.ts'
import type { ImportMap } from './import-map.ts'
import { resolveModule, type Resolution } from './module-resolution.ts'
import type { ModuleImport } from './module-syntax.ts'

const TYPES = ['json', 'text', 'bytes']
/** Before the path of a module that gives what is in a file, and of a file that is only read. */
const DATA_MODULE = /^croft:(json|text|bytes|file):(.+)$/s
const CODE = /\.[mc]?[jt]sx?$/

/** The path under which a function reads a file that is kept as a module. */
export const fileOfModule = (path: string): string | undefined => {
  const [, kind, file] = DATA_MODULE.exec(path) ?? []
  return kind === 'file' ? file : undefined
}

/** Where an import leads: the path of a module, which need not be that of a file. */
export function targetOf(
  { specifier, type }: ModuleImport,
  referrer: string,
  { files, map }: { readonly files: ReadonlyMap<string, string>; readonly map: ImportMap },
): Resolution {
  if (type !== undefined && !TYPES.includes(type)) return unknownType(specifier, referrer, type)
  const mapped = map.resolve(specifier, referrer)
  const found = findFile({ specifier, referrer, mapped }, (path) => files.has(path))
  if (!found.ok) return type === undefined ? found : missing(found)
  const isPlain = type === undefined || (type === 'json' && found.path.endsWith('.json'))
  return isPlain ? found : { ok: true, path: `croft:${type}:${found.path}` }
}

/** What begins with a slash, or is of the import map, is looked for from the root on, as if a file there had imported it. */
export function findFile(
  { specifier, referrer, mapped }: Asked,
  exists: (path: string) => boolean,
): Resolution {
  const address = mapped ?? specifier
  const isFromRoot = mapped !== undefined || address.startsWith('/')
  const [from, sought] = [isFromRoot ? '' : referrer, address.replace(/^\//, './')]
  const found = resolveModule(sought, from, exists)
  if (found.ok || !isFromRoot) return found
  const reason = found.message.slice(`"${from}" imports "${sought}"`.length)
  const way = mapped === undefined ? '' : `, which the import map leads to "${mapped}"`
  return { ok: false, message: `"${referrer}" imports "${specifier}"${way}${reason}` }
}

/** The module that a path like `croft:text:notes.txt` names; undefined for any other path. */
export function dataModule(
  path: string,
  files: ReadonlyMap<string, string>,
): ModuleSource | undefined {
  const [, kind, file = ''] = DATA_MODULE.exec(path) ?? []
  if (kind === undefined) return undefined
  const content = files.get(file) ?? ''
  return {
    path,
    format: 'json',
    code: kind === 'json' ? content : JSON.stringify(contentAs(kind, content)),
  }
}

/** The artifact's files that a function may read while it runs; none when no module of it says that it does. */
export function readableFiles(
  modules: Iterable<ModuleSource>,
  files: ReadonlyMap<string, string>,
): ModuleSource[] {
  const reads = [...modules].some(({ format, code }) => format !== 'json' && readsFiles(code))
  if (!reads) return []
  return [...files].flatMap(([path, content]) =>
    CODE.test(path)
      ? []
      : [{ path: `croft:file:${path}`, format: 'json' as const, code: JSON.stringify(content) }],
  )
}

/** Text that was kept as bytes is read as UTF-8, as Deno reads it. */
function contentAs(kind: string, content: string): string {
  if (kind !== 'text' || !content.startsWith(DATA_URL)) return content
  return Buffer.from(content.slice(DATA_URL.length), 'base64').toString('utf8')
}

const unknownType = (specifier: string, referrer: string, type: string): Resolution => ({
  ok: false,
  message: `"${referrer}" imports "${specifier}" with the type "${type}": there are ${TYPES.join(', ')}`,
})

const missing = (found: Extract<Resolution, { ok: false }>): Resolution => ({
  ok: false,
  message: `${found.message} among the files that functions may read: those outside the public folder, of up to 1 MiB each and 4 MiB together`,
})

interface Asked {
  readonly specifier: string
  readonly referrer: string
  readonly mapped: string | undefined
}
