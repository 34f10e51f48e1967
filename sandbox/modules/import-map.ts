import { parseJsonWithComments } from './typescript/json-with-comments.ts'

/** Deno's configuration at the root of an artifact; the first that is there. */
const NAMES = ['deno.json', 'deno.jsonc']
const MAX_LENGTH = 256 * 1024

type Addresses = readonly (readonly [key: string, address: string])[]

/** Texts of files by their paths. */
export type ArtifactTexts = Pick<ReadonlyMap<string, string>, 'has' | 'get'>

export type ImportMapReading =
  | { readonly ok: true; readonly map: ImportMap }
  | { readonly ok: false; readonly path: string; readonly message: string }

/** https://html.spec.whatwg.org/#import-maps, of files in an artifact. Paths in it begin with a slash, the artifact's root. */
export class ImportMap {
  readonly #imports: Addresses
  readonly #scopes: readonly (readonly [scope: string, Addresses])[]

  constructor(imports: Addresses, scopes: readonly (readonly [string, Addresses])[]) {
    this.#imports = imports
    this.#scopes = scopes
  }

  /** What it says for a specifier in `referrer`: a path from the root on, or anything else as it is written there. */
  resolve(specifier: string, referrer: string): string | undefined {
    const key = normalKey(specifier, folderOf(referrer))
    for (const [scope, addresses] of this.#scopes) {
      const inScope = scope.endsWith('/')
        ? `/${referrer}`.startsWith(scope)
        : `/${referrer}` === scope
      const found = inScope ? addressIn(addresses, key) : undefined
      if (found !== undefined) return found
    }
    return addressIn(this.#imports, key)
  }
}

/** The import map of an artifact: `imports` and `scopes` of its `deno.json` or `deno.jsonc`, or of the file that `importMap` names. */
export function readImportMap(files: ArtifactTexts): ImportMapReading {
  const path = NAMES.find((name) => files.has(name))
  if (path === undefined) return { ok: true, map: new ImportMap([], []) }
  const config = objectIn(files, path)
  if (!config) return fault(path, 'is no JSON object')
  const named = config['importMap']
  if (
    config['imports'] !== undefined ||
    config['scopes'] !== undefined ||
    typeof named !== 'string'
  )
    return readMap(path, config)
  const other = normalKey(named.startsWith('.') ? named : `./${named}`, '').slice(1)
  const map = objectIn(files, other)
  return map
    ? readMap(other, map)
    : fault(path, `names the import map "${named}", which is no JSON object`)
}

function readMap(path: string, config: Readonly<Record<string, unknown>>): ImportMapReading {
  const folder = folderOf(path)
  const imports = addressesOf(config['imports'], folder)
  if (!imports) return fault(path, '"imports" must be an object of texts')
  const { scopes = {} } = config
  if (!isObject(scopes)) return fault(path, '"scopes" must be an object')
  const read: [string, Addresses][] = []
  for (const [scope, entries] of Object.entries(scopes)) {
    const addresses = addressesOf(entries, folder)
    if (!addresses) return fault(path, `the scope "${scope}" must be an object of texts`)
    read.push([normalKey(scope.startsWith('.') ? scope : `./${scope}`, folder), addresses])
  }
  return { ok: true, map: new ImportMap(imports, read.toSorted(longestFirst)) }
}

function addressesOf(value: unknown, folder: string): Addresses | undefined {
  if (value === undefined) return []
  if (!isObject(value)) return undefined
  const read: [string, string][] = []
  for (const [key, address] of Object.entries(value)) {
    if (typeof address !== 'string') return undefined
    read.push([normalKey(key, folder), normalKey(address, folder)])
  }
  return read.toSorted(longestFirst)
}

/** Keys that end with a slash stand for all that begins with them; the longest counts. */
function addressIn(addresses: Addresses, specifier: string): string | undefined {
  for (const [key, address] of addresses) {
    if (key === specifier) return address
    if (!key.endsWith('/') || !address.endsWith('/') || !specifier.startsWith(key)) continue
    return normalKey(address + specifier.slice(key.length), '')
  }
  return undefined
}

/** A relative path as one from the root on. What leads out of the artifact stays as it is written. */
function normalKey(text: string, folder: string): string {
  if (!/^(?:\.{0,2}\/|\.{1,2}$)/.test(text)) return text
  const parts: string[] = []
  for (const part of (text.startsWith('/') ? text : `${folder}/${text}`).split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return text
  }
  return `/${parts.join('/')}${text.endsWith('/') && parts.length > 0 ? '/' : ''}`
}

const longestFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  b.length - a.length

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

const fault = (path: string, message: string): ImportMapReading => ({
  ok: false,
  path,
  message: `"${path}" ${message}`,
})

function objectIn(
  files: ArtifactTexts,
  path: string,
): Readonly<Record<string, unknown>> | undefined {
  const text = files.get(path)
  const value =
    text === undefined || text.length > MAX_LENGTH ? undefined : parseJsonWithComments(text)
  return isObject(value) ? value : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
