import { stripTypeScriptTypes } from 'node:module'

import ivm from 'isolated-vm'

import { sourcePlaceAt, sourceFaultOf } from './module-fault.ts'
import { checkModules } from './module-graph.ts'
import { resolveModule } from './module-resolution.ts'
import { formatOf, hasModuleSyntax, importsOf, type ModuleImport } from './module-syntax.ts'
import type { FunctionFiles, ModuleSource, PreparerAnswer, SourceFault } from './protocol.ts'

const MAX_MODULES = 1000
const CHECK_MEMORY_MB = 256
/** How V8 says that the parser's stack, or the isolate's memory, was not enough. */
const OVERFLOW = /^Maximum call stack size exceeded|memory limit/
/** Node puts the place at the start of the stack: `path:line`, then the line with marks below what is wrong. */
const STRIP_PLACE = /^[^\n]*:(\d+)\n/
const STRIP_TAB_WIDTH = 4
const STRIP_MARKS = /\n( *)\^+\n/

/** Errors of `stripTypeScriptTypes` that are about the source; any other leaves its parser broken. */
const SOURCE_ERRORS = ['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']

/** Finds and checks what a function needs, from its entry on. Nothing of it is run. Await `syntaxReady` before. */
export function prepare({ entry, files }: FunctionFiles): Exclude<PreparerAnswer, { ready: true }> {
  try {
    const modules = collect(entry, new Map(files))
    check({ entry, modules })
    return { ok: true, modules }
  } catch (error) {
    if (error instanceof BrokenParser) return { broken: error.fault }
    if (error instanceof Refusal) return { ok: false, fault: error.fault }
    throw error
  }
}

/** The one module of ad-hoc code, which is CommonJS unless it says otherwise. */
export const adHocModule = (path: string, code: string): ModuleSource => ({
  path,
  code,
  format: hasModuleSyntax(code) ? 'esm' : 'commonjs',
})

class Refusal extends Error {
  readonly fault: SourceFault

  constructor(fault: SourceFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Node's parser of TypeScript trapped: its WebAssembly refuses whatever comes afterwards. */
class BrokenParser extends Refusal {}

function collect(entry: string, files: ReadonlyMap<string, string>): ModuleSource[] {
  if (!files.has(entry)) throw new Refusal({ message: `The entry "${entry}" does not exist` })
  const modules = new Map<string, ModuleSource>()
  const queue = [entry]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (modules.has(path)) continue
    if (modules.size >= MAX_MODULES) {
      throw new Refusal({ message: `"${entry}" reaches more than ${MAX_MODULES} modules`, path })
    }
    const module = moduleOf(path, files.get(path) ?? '')
    modules.set(path, module)
    queue.push(...dependencies(module, files))
  }
  checkRequires(modules, files)
  return [...modules.values()]
}

function moduleOf(path: string, source: string): ModuleSource {
  const code = /\.[cm]?ts$/.test(path) ? stripTypes(path, source) : source
  return { path, code, format: formatOf(path, code) }
}

function stripTypes(path: string, source: string): string {
  try {
    return stripTypeScriptTypes(source, { sourceUrl: undefined, mode: 'strip' })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (!('code' in error) || !SOURCE_ERRORS.includes(String(error.code))) {
      throw new BrokenParser(tooDeep(path))
    }
    throw new Refusal({ message: error.message, path, ...stripPlace(String(error.stack), source) })
  }
}

function stripPlace(stack: string, source: string): Pick<SourceFault, 'line' | 'column'> {
  const line = Number(STRIP_PLACE.exec(stack)?.[1])
  const text = source.split(/\r\n|[\n\r]/)[line - 1]
  if (text === undefined) return {}
  // What is wrong at the end of a line has no marks.
  const marked = STRIP_MARKS.exec(stack)?.[1]?.length ?? Infinity
  return { line, column: columnOf(text, marked) }
}

/** The column in a line of what is `width` characters from its start where tabs are shown as blanks. */
function columnOf(text: string, width: number): number {
  let shown = 0
  let column = 1
  for (; column <= text.length && shown < width; column += 1) {
    shown += text.charAt(column - 1) === '\t' ? STRIP_TAB_WIDTH : 1
  }
  return column
}

const tooDeep = (path: string): SourceFault => ({
  message: `"${path}" cannot be read: it is nested too deeply, or too large`,
  path,
})

function dependencies(module: ModuleSource, files: ReadonlyMap<string, string>): string[] {
  return importsOf(module.format, module.code).map((found) => {
    const target = resolveModule(found.specifier, module.path, (path) => files.has(path))
    if (target.ok) return target.path
    throw new Refusal({ message: target.message, ...placeOf(found, module) })
  })
}

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

const placeOf = (
  { offset }: ModuleImport,
  { path, code }: ModuleSource,
): Omit<SourceFault, 'message'> => ({
  path,
  ...sourcePlaceAt(code, offset),
})

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
    const fault = sourceFaultOf(error, definition.modules)
    throw new Refusal(OVERFLOW.test(fault.message) ? tooDeep(definition.entry) : fault)
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
