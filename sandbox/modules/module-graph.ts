import type ivm from 'isolated-vm'

import type { ModuleSource, SlotDefinition } from '#sandbox/protocol/protocol.ts'

import { META_SPECIFIER } from './import-meta.ts'
import { fileOfModule } from './module-imports.ts'
import { resolveModule } from './module-resolution.ts'

const WRAPPER_START = '(function (exports, require, module, __filename, __dirname) {'
const WRAPPER_END = '\n})'
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const ROOT = 'croft:root'

interface ModuleRuntime {
  readonly define: ivm.Reference
  readonly names: ivm.Reference
  readonly entry: ivm.Reference
}

export interface LoadOptions {
  readonly definition: Pick<SlotDefinition, 'entry' | 'modules'>
  readonly runtime: ModuleRuntime
  /** Wall time that is left for all of it. */
  readonly timeoutMs: () => number
}

/** Compiles, links and evaluates a function's modules; passes the exports of the entry module to the guest. */
export function loadModules(
  isolate: ivm.Isolate,
  context: ivm.Context,
  options: LoadOptions,
): void {
  const { definition, runtime, timeoutMs } = options
  const modules = new Map(definition.modules.map((module) => [module.path, module]))
  const entry = modules.get(definition.entry)
  if (!entry) throw new Error(`The entry module "${definition.entry}" is missing`)
  for (const module of modules.values()) {
    if (module.format !== 'esm' && fileOfModule(module.path) === undefined)
      define(isolate, context, { module, runtime, timeoutMs })
  }
  if (entry.format !== 'esm') {
    runtime.entry.applySync(undefined, [entry.path], { timeout: timeoutMs() })
    return
  }
  const graph = new ModuleGraph(isolate, modules, (path) =>
    readNames(runtime.names.applySync(undefined, [path], { timeout: timeoutMs() })),
  )
  try {
    graph.link(context, entry).evaluateSync({ timeout: timeoutMs() })
  } finally {
    graph.release()
  }
}

/** Compiles and links without running anything: a syntax error or a missing export throws. */
export function checkModules(
  isolate: ivm.Isolate,
  context: ivm.Context,
  definition: Pick<SlotDefinition, 'entry' | 'modules'>,
): void {
  const modules = new Map(definition.modules.map((module) => [module.path, module]))
  for (const module of modules.values()) {
    if (module.format === 'commonjs') compileWrapper(isolate, module).release()
  }
  const entry = modules.get(definition.entry)
  if (entry?.format !== 'esm') return
  const graph = new ModuleGraph(isolate, modules, () => [])
  // What a CommonJS module exports is only known once it runs.
  if (definition.modules.every((module) => module.format === 'esm')) graph.link(context, entry)
  else graph.compile(entry)
}

function define(
  isolate: ivm.Isolate,
  context: ivm.Context,
  { module, runtime, timeoutMs }: { module: ModuleSource } & Omit<LoadOptions, 'definition'>,
): void {
  if (module.format === 'json') {
    runtime.define.applySync(undefined, [module.path, undefined, module.code])
    return
  }
  const script = compileWrapper(isolate, module)
  const wrapper = script.runSync(context, { reference: true, timeout: timeoutMs() })
  runtime.define.applySync(undefined, [module.path, wrapper.derefInto(), ''])
  wrapper.release()
  script.release()
}

const compileWrapper = (isolate: ivm.Isolate, module: ModuleSource): ivm.Script =>
  isolate.compileScriptSync(`${WRAPPER_START}${module.code}${WRAPPER_END}`, {
    filename: module.path,
    columnOffset: -WRAPPER_START.length,
  })

/** The native modules of one function. CommonJS and JSON modules take part through a module made for each. */
class ModuleGraph {
  readonly #isolate: ivm.Isolate
  readonly #sources: ReadonlyMap<string, ModuleSource>
  readonly #namesOf: (path: string) => string[]
  readonly #compiled = new Map<string, ivm.Module>()
  readonly #paths = new Map<ivm.Module, string>()
  /** What `import.meta` is, by the path of the module. */
  readonly #metas = new Map<string, ivm.Module>()
  #root: ivm.Module | undefined

  constructor(
    isolate: ivm.Isolate,
    sources: ReadonlyMap<string, ModuleSource>,
    namesOf: (path: string) => string[],
  ) {
    this.#isolate = isolate
    this.#sources = sources
    this.#namesOf = namesOf
  }

  /** A root module that hands the entry's exports to the guest once it has been evaluated, whatever it awaits. */
  link(context: ivm.Context, entry: ModuleSource): ivm.Module {
    this.compile(entry)
    const root = this.#isolate.compileModuleSync(
      'import * as exports from "entry"; __croftLoaded(exports)',
      { filename: ROOT },
    )
    this.#root = root
    root.instantiateSync(context, (specifier, referrer) => {
      const from = this.#paths.get(referrer)
      if (from === undefined) return this.#get(entry.path)
      if (specifier === META_SPECIFIER) return this.#metaOf(from, from === entry.path)
      return this.#get(this.#resolve(specifier, from))
    })
    return root
  }

  /** The isolate keeps a context for as long as any of its modules is held. */
  release(): void {
    for (const module of this.#compiled.values()) module.release()
    for (const module of this.#metas.values()) module.release()
    this.#root?.release()
  }

  compile(source: ModuleSource): void {
    const module =
      source.format === 'esm'
        ? this.#isolate.compileModuleSync(source.code, { filename: source.path })
        : this.#compileBridge(source)
    this.#compiled.set(source.path, module)
    this.#paths.set(module, source.path)
    if (source.format !== 'esm') return
    for (const specifier of module.dependencySpecifiers) {
      if (specifier === META_SPECIFIER) continue
      const path = this.#resolve(specifier, source.path)
      const next = this.#sources.get(path)
      if (next && !this.#compiled.has(path)) this.compile(next)
    }
  }

  #compileBridge({ path }: ModuleSource): ivm.Module {
    const quoted = JSON.stringify(path)
    const names = this.#namesOf(path).filter((name) => IDENTIFIER.test(name))
    const exports = names
      .filter((name) => name !== 'default')
      .map((name, index) => `const e${index} = m.${name}; export { e${index} as ${name} };`)
    const code = `const m = __croftRequire(${quoted}); export default m; ${exports.join(' ')}`
    return this.#isolate.compileModuleSync(code, { filename: path })
  }

  #metaOf(path: string, isMain: boolean): ivm.Module {
    const known = this.#metas.get(path)
    if (known) return known
    const code = `export default __croftMetaOf(${JSON.stringify(path)}, ${isMain})`
    const module = this.#isolate.compileModuleSync(code, { filename: META_SPECIFIER })
    this.#metas.set(path, module)
    return module
  }

  #resolve(specifier: string, referrer: string): string {
    const imports = this.#sources.get(referrer)?.imports
    if (imports && Object.hasOwn(imports, specifier)) return imports[specifier] ?? ''
    const found = resolveModule(specifier, referrer, (path) => this.#sources.has(path))
    if (!found.ok) throw new Error(found.message)
    return found.path
  }

  #get(path: string): ivm.Module {
    const module = this.#compiled.get(path)
    if (!module) throw new Error(`Module "${path}" is missing`)
    return module
  }
}

/** What the guest said a module exports: hostile text. */
function readNames(text: unknown): string[] {
  const names: unknown = JSON.parse(String(text))
  return typeof names === 'object' && names !== null ? Object.keys(names).slice(0, 10_000) : []
}
