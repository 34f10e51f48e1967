import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { isJsonObject } from '#base/json-object.ts'

/** What the sandbox's own code imports. */
const PACKAGES = [
  'chardet',
  'colord',
  'es-module-lexer',
  'esbuild-wasm',
  'html-to-text',
  'iconv-lite',
  'isolated-vm',
  'lru-cache',
  'piscina',
  'sanitize-html',
]
/** A line of the dynamic linker's: `libm.so.6 => /lib/libm.so.6 (0x…)`, or the linker itself. */
const LIBRARY = /^\s+(?:\S+ => )?(\/\S+) \(/gm
/** Where libraries are when the linker does not tell. */
const LIBRARY_FOLDERS = ['/lib', '/lib64', '/usr/lib', '/usr/lib64']
const TRACE_MS = 5000

/** The files and folders that Node reads when it runs an entry of the sandbox, at the paths by which it asks for them. */
export function filesOfEntry(entry: string): string[] {
  const folder = dirname(entry)
  const packages = new Set<string>()
  for (const name of PACKAGES) addPackage(folder, name, packages)
  return [folder, ...manifestAbove(folder), ...packages]
}

/** The shared libraries of programs. */
export async function librariesOf(programs: readonly string[]): Promise<string[]> {
  const traces = await Promise.all(programs.map(trace))
  const found = traces.flatMap((text) =>
    Array.from(text.matchAll(LIBRARY), ([, path = '']) => path),
  )
  return found.length > 0 ? [...new Set(found)] : LIBRARY_FOLDERS.filter((path) => existsSync(path))
}

/** The dynamic linker of glibc lists the libraries instead of starting the program; any other starts it, which may fail. */
async function trace(program: string): Promise<string> {
  const options = { env: { LD_TRACE_LOADED_OBJECTS: '1' }, timeout: TRACE_MS }
  return promisify(execFile)(program, ['--version'], options).then(
    ({ stdout }) => stdout,
    () => '',
  )
}

/** A package and what it depends on, as far as it is installed, each where Node finds it from `folder`. */
function addPackage(folder: string, name: string, found: Set<string>): void {
  const path = ancestors(folder)
    .map((ancestor) => join(ancestor, 'node_modules', name))
    .find((candidate) => existsSync(candidate))
  if (path === undefined || found.has(path)) return
  found.add(path)
  const manifest: unknown = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  for (const dependency of dependenciesOf(manifest)) addPackage(path, dependency, found)
}

function dependenciesOf(manifest: unknown): string[] {
  if (!isJsonObject(manifest)) return []
  return [manifest['dependencies'], manifest['optionalDependencies']].flatMap((list) =>
    isJsonObject(list) ? Object.keys(list) : [],
  )
}

/** The package.json that says how Node reads the files of a folder. */
function manifestAbove(folder: string): string[] {
  const manifests = ancestors(folder).map((ancestor) => join(ancestor, 'package.json'))
  return manifests.filter((path) => existsSync(path)).slice(0, 1)
}

/** A folder and all above it, the nearest first. */
export function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...ancestors(parent)]
}

/**
 * Also the links on the way to them, and the places where those lead. Folders come before what is in them: Node's
 * permissions know no folder that is named after one of its files.
 */
export const withTargets = (paths: readonly string[]): string[] => {
  const all = paths.flatMap((path) =>
    existsSync(path) ? [path, realpathSync(path), ...ancestors(path).filter(isLink)] : [path],
  )
  return [...new Set(all)].toSorted((one, other) => one.length - other.length)
}

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink()
