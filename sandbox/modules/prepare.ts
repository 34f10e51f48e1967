import { stripTypeScriptTypes } from 'node:module'

import ivm from 'isolated-vm'

import { settingsFor } from '#sandbox/modules/typescript/settings.ts'
import type {
  FunctionFiles,
  ModuleSource,
  PreparerAnswer,
  SourceFault,
} from '#sandbox/protocol/protocol.ts'

import { type ImportMap, readImportMap } from './import-map.ts'
import { META_SPECIFIER, withImportMeta } from './import-meta.ts'
import { sourcePlaceAt, sourceFaultOf } from './module-fault.ts'
import { checkModules } from './module-graph.ts'
import { dataModule, readableFiles, targetOf } from './module-imports.ts'
import { resolveModule } from './module-resolution.ts'
import { formatOf, hasModuleSyntax, importsOf, type ModuleImport } from './module-syntax.ts'
import { originalPlace } from './original-place.ts'
import { BrokenParser, Refusal, tooDeep } from './refusal.ts'
import { transformTypeScript } from './transform-typescript.ts'

const CHECK_MEMORY_MB = 256

/** How V8 says that the parser's stack, or the isolate's memory, was not enough. */
const OVERFLOW = /^Maximum call stack size exceeded|memory limit/
const TYPESCRIPT = /\.[cm]?ts$/
const JSX = /\.[jt]sx$/

/** V8 names the missing export and its module, but not the import of it. */
const MISSING = /^The requested module '(.+)' does not provide an export named '(.+)'$/s

/** What one function may reach by its imports. */
const MODULE_LIMITS = {
  modules: 1000,
  /** `import`, `export … from` and `require` with a literal, of all of them. */
  imports: 20_000,
  /** Imports from the entry to a module, by the shortest way. */
  depth: 200,
} as const

const ADVICE = 'bundle the function into fewer modules ("croft site bundle" does it)'

/** Node puts the place at the start of the stack: `path:line`, then the line with marks below what is wrong. */
const PLACE = /^[^\n]*:(\d+)\n/
const TAB_WIDTH = 4
const MARKS = /\n( *)\^+\n/

/** What the source says is TypeScript that cannot be read at all. */
const INVALID = 'ERR_INVALID_TYPESCRIPT_SYNTAX'

/** It is TypeScript that is more than types. */
const UNSUPPORTED = 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'

type Answer = Exclude<PreparerAnswer, { ready: true }>

/** How files of TypeScript are read: types alone are taken off where that may do. */
type Reading = 'strip' | 'transform'

/**
 * Finds and checks what a function needs, from its entry on. Nothing of it is run. Await `syntaxReady` before.
 *
 * Types are first taken off, which leaves everything at its place. Where what is left then does not load, the TypeScript in
 * it may be more than types: decorators, or an import of what is only a type. So it is transformed and looked at again.
 */
export async function prepare({ entry, files }: FunctionFiles): Promise<Answer> {
  const sources = new Map(files)
  const stripped = await prepareAs('strip', entry, sources)
  if ('broken' in stripped || stripped.ok || !stripped.mayBeTypeScript) return answerOf(stripped)
  const transformed = await prepareAs('transform', entry, sources)
  if ('broken' in transformed || transformed.ok) return answerOf(transformed)
  // Its place is exact where the code is as it was written.
  const isSame = transformed.fault.message === stripped.fault.message
  return answerOf(isSame ? stripped : transformed)
}

/** The one module of ad-hoc code, which is CommonJS unless it says otherwise. */
export function adHocModule({ path, code, map }: Omit<ModuleSource, 'format'>): ModuleSource {
  const format = hasModuleSyntax(code) ? 'esm' : 'commonjs'
  const compiled = format === 'esm' ? withImportMeta(code) : code
  return { path, code: compiled, format, ...(map === undefined ? {} : { map }) }
}

type Attempt =
  | Exclude<Answer, { ok: false }>
  | {
      readonly ok: false
      readonly fault: SourceFault
      /** Whether another reading of its TypeScript may find nothing wrong. */
      readonly mayBeTypeScript: boolean
    }

const answerOf = (attempt: Attempt): Answer =>
  'broken' in attempt || attempt.ok ? attempt : { ok: false, fault: attempt.fault }

async function prepareAs(
  reading: Reading,
  entry: string,
  files: ReadonlyMap<string, string>,
): Promise<Attempt> {
  const modules = new Map<string, ModuleSource>()
  try {
    await collect(entry, { files, reading, modules })
    checkRequires(modules, files)
    check({ entry, modules: [...modules.values()] })
    const readable = readableFiles(modules.values(), files)
    return { ok: true, modules: [...modules.values(), ...readable] }
  } catch (error) {
    if (error instanceof BrokenParser) return { broken: error.fault }
    if (!(error instanceof Refusal)) throw error
    const isStripped = (path: string): boolean => TYPESCRIPT.test(path) && !modules.get(path)?.map
    const mayBeTypeScript = error instanceof Unlinkable && [...modules.keys()].some(isStripped)
    return { ok: false, fault: error.fault, mayBeTypeScript }
  }
}

/** V8 does not compile or link it. A file that is not there, or is no JSON, is none that was only imported for a type. */
class Unlinkable extends Refusal {}

interface Collecting {
  readonly files: ReadonlyMap<string, string>
  readonly reading: Reading
  readonly modules: Map<string, ModuleSource>
}

async function collect(entry: string, { files, reading, modules }: Collecting): Promise<void> {
  if (!files.has(entry)) throw new Refusal({ message: `The entry "${entry}" does not exist` })
  const map = importMapOf(files)
  // Nearest first, so that the depth of a module is that of the shortest way to it.
  const depths = new Map([[entry, 0]])
  let imports = 0
  for (const [path, depth] of depths) {
    const module = dataModule(path, files) ?? (await moduleOf(path, files, reading))
    const found = dependencies(module, { files, map })
    modules.set(path, linked(module, found.imports))
    imports += found.count
    for (const target of found.targets) if (!depths.has(target)) depths.set(target, depth + 1)
    const error = reachError(entry, { modules: depths.size, imports, depth })
    if (error !== undefined) throw new Refusal({ message: error, path })
  }
}

async function moduleOf(
  path: string,
  files: ReadonlyMap<string, string>,
  reading: Reading,
): Promise<ModuleSource> {
  const source = files.get(path) ?? ''
  const isTypeScript = TYPESCRIPT.test(path)
  if (!isTypeScript && !JSX.test(path))
    return { path, code: source, format: formatOf(path, source) }
  // Also when it is to be transformed, so that a syntax error has the same message.
  const stripped = isTypeScript ? stripTypes(path, source) : undefined
  if (stripped !== undefined && reading === 'strip')
    return { path, code: stripped, format: formatOf(path, stripped) }
  const { code, map } = await transformTypeScript(path, source, settingsFor(path, files))
  return { path, code, format: formatOf(path, code), map }
}

function importMapOf(files: ReadonlyMap<string, string>): ImportMap {
  const read = readImportMap(files)
  if (read.ok) return read.map
  throw new Refusal({ message: read.message, path: read.path })
}

interface Dependencies {
  readonly targets: readonly string[]
  /** Imports, also several of the same. */
  readonly count: number
  /** Those that are not found by their specifier alone. */
  readonly imports: Readonly<Record<string, string>>
}

function dependencies(
  module: ModuleSource,
  artifact: { readonly files: ReadonlyMap<string, string>; readonly map: ImportMap },
): Dependencies {
  const targets = new Map<string, string>()
  const imports: Record<string, string> = {}
  const all = importsOf(module.format, module.code)
  for (const found of all) {
    const { specifier } = found
    if (specifier === META_SPECIFIER && module.format === 'esm') continue
    const target = targetOf(found, module.path, artifact)
    if (!target.ok) throw new Refusal({ message: target.message, ...placeOf(found, module) })
    const before = targets.get(specifier)
    if (before !== undefined && before !== target.path) {
      const message = `"${module.path}" imports "${specifier}" in two ways: name the file differently, or import it once`
      throw new Refusal({ message, ...placeOf(found, module) })
    }
    targets.set(specifier, target.path)
    const plain = resolveModule(specifier, module.path, (path) => artifact.files.has(path))
    if (!plain.ok || plain.path !== target.path) imports[specifier] = target.path
  }
  return { targets: [...targets.values()], count: all.length, imports }
}

/** As it is compiled. */
const linked = (module: ModuleSource, imports: Dependencies['imports']): ModuleSource => ({
  ...module,
  ...(module.format === 'esm' ? { code: withImportMeta(module.code) } : {}),
  ...(Object.keys(imports).length === 0 ? {} : { imports }),
})

/** `require` gives its value at once, so it cannot reach an ES module. */
function checkRequires(
  modules: ReadonlyMap<string, ModuleSource>,
  files: ReadonlyMap<string, string>,
): void {
  for (const module of modules.values()) {
    if (module.format !== 'commonjs') continue
    for (const required of importsOf('commonjs', module.code)) {
      const { specifier } = required
      const found = resolveModule(specifier, module.path, (path) => files.has(path))
      if (!found.ok || modules.get(found.path)?.format !== 'esm') continue
      throw new Refusal({
        message: `"${module.path}" requires "${specifier}", which is an ES module: import it instead`,
        ...placeOf(required, module),
      })
    }
  }
}

function placeOf({ offset }: ModuleImport, module: ModuleSource): Omit<SourceFault, 'message'> {
  const { path, code } = module
  return { path, ...originalPlace(module, sourcePlaceAt(code, offset)) }
}

/** Compiles and links everything in an isolate that is thrown away. */
function check(definition: { entry: string; modules: readonly ModuleSource[] }): void {
  const isolate = new ivm.Isolate({ memoryLimit: CHECK_MEMORY_MB })
  try {
    for (const module of definition.modules) {
      if (module.format === 'json') checkJson(module)
    }
    checkModules(isolate, isolate.createContextSync(), definition)
  } catch (error) {
    if (error instanceof Refusal) throw error
    const fault = atItsImport(sourceFaultOf(error, definition.modules), definition.modules)
    throw new Unlinkable(OVERFLOW.test(fault.message) ? tooDeep(definition.entry) : fault)
  } finally {
    if (!isolate.isDisposed) isolate.dispose()
  }
}

function checkJson(module: ModuleSource): void {
  try {
    JSON.parse(module.code)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Refusal({ message: `"${module.path}" is not JSON: ${message}`, path: module.path })
  }
}

/** The same fault with the place of the import that asks for what is not there. */
function atItsImport(fault: SourceFault, modules: readonly ModuleSource[]): SourceFault {
  const [, specifier, name] = MISSING.exec(fault.message) ?? []
  if (specifier === undefined || name === undefined) return fault
  for (const module of modules) {
    const offset = module.format === 'esm' ? offsetOf(module.code, specifier, name) : -1
    if (offset < 0) continue
    return {
      ...fault,
      path: module.path,
      ...originalPlace(module, sourcePlaceAt(module.code, offset)),
    }
  }
  return fault
}

/** Where an import from `specifier` names `name`; -1 where none does. */
function offsetOf(code: string, specifier: string, name: string): number {
  let before = 0
  for (const found of importsOf('esm', code)) {
    const named = code.lastIndexOf(name, found.offset)
    if (found.specifier === specifier && named >= before) return named
    before = found.offset
  }
  return -1
}

/** What is wrong with a function that reaches so much; undefined when nothing is. */
function reachError(
  entry: string,
  reached: { readonly [Name in keyof typeof MODULE_LIMITS]: number },
): string | undefined {
  const { modules, imports, depth } = MODULE_LIMITS
  const past = (what: string, limit: number): string =>
    `"${entry}" reaches more than ${limit} ${what} (${reached.imports} imports in ${reached.modules} modules so far): ${ADVICE}`
  if (reached.modules > modules) return past('modules', modules)
  if (reached.imports > imports) return past('imports', imports)
  if (reached.depth > depth) return past('modules in a row that import one another', depth)
  return undefined
}

/** The code with blanks in place of its types, so that everything stays where it is; undefined when it has more than types. */
function stripTypes(path: string, source: string): string | undefined {
  try {
    return stripTypeScriptTypes(source, { sourceUrl: undefined, mode: 'strip' })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = 'code' in error ? error.code : undefined
    if (code === UNSUPPORTED) return undefined
    if (code !== INVALID) throw new BrokenParser(tooDeep(path))
    throw new Refusal({
      message: error.message,
      path,
      ...placeInStack(String(error.stack), source),
    })
  }
}

function placeInStack(stack: string, source: string): Pick<SourceFault, 'line' | 'column'> {
  const line = Number(PLACE.exec(stack)?.[1])
  const text = source.split(/\r\n|[\n\r]/)[line - 1]
  if (text === undefined) return {}
  // What is wrong at the end of a line has no marks.
  const marked = MARKS.exec(stack)?.[1]?.length ?? Infinity
  return { line, column: columnOf(text, marked) }
}

/** The column in a line of what is `width` characters from its start where tabs are shown as blanks. */
function columnOf(text: string, width: number): number {
  let shown = 0
  let column = 1
  for (; column <= text.length && shown < width; column += 1) {
    shown += text.charAt(column - 1) === '\t' ? TAB_WIDTH : 1
  }
  return column
}
