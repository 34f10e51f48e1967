import { bytesOf } from '#sandbox/guest/web/deno-files.ts'
import {
  apply,
  create,
  ErrorClass,
  jsonParse,
  jsonStringify,
  startsWith,
} from '#sandbox/guest/web/primordials.ts'
import { resolveModule } from '#sandbox/modules/module-resolution.ts'

import { configured } from './config.ts'
import { emit } from './output.ts'
import { LOADED, UNUSABLE } from './record-kinds.ts'
import { SafeMap } from './safe-map.ts'

/** Before the path of a module that gives the bytes of a file. */
const BYTES = 'croft:bytes:'

/** `function (exports, require, module, __filename, __dirname)` around a module's code. */
type Wrapper = (...parts: readonly unknown[]) => void

interface CommonModule {
  readonly path: string
  readonly wrapper: Wrapper | undefined
  /** JSON text. */
  readonly data: string
  module: { exports: unknown } | undefined
}

/** How a call reaches site code. */
export type Target =
  | { readonly kind: 'function'; readonly handle: (input: object, context: object) => unknown }
  | {
      readonly kind: 'fetch'
      readonly owner: object
      readonly handle: (request: object) => unknown
    }

const modules = new SafeMap<CommonModule>()
let target: Target | undefined

export const loadedTarget = (): Target | undefined => target

/** A CommonJS module by its compiled wrapper, or a JSON module by its text. */
export function defineModule(path: string, wrapper: Wrapper | undefined, data: string): void {
  modules.set(path, { path, wrapper, data, module: undefined })
}

export function requireModule(path: string): unknown {
  const found = modules.get(path)
  if (!found) throw new ErrorClass(`Module "${path}" does not exist`)
  if (found.module) return found.module.exports
  const module: { exports: unknown } = { exports: {} }
  found.module = module
  try {
    runModule(found, module)
  } catch (error) {
    found.module = undefined
    throw error
  }
  return module.exports
}

/** JSON text of the names that `import { … }` may take from a CommonJS module. */
export function exportedNames(path: string): string {
  const exports = requireModule(path)
  const names = create(null) as Record<string, 1>
  if (typeof exports === 'object' && exports !== null) {
    for (const name in exports) names[name] = 1
  }
  return jsonStringify(names) as string
}

/** Finds the handler in what the entry module exports, and tells the host. */
export function moduleLoaded(exports: unknown, served: Target | undefined): void {
  const found = findTarget(exports, configured().handler) ?? served
  if (found) {
    target = found
    emit(`${LOADED}`)
    return
  }
  emit(`${UNUSABLE}`)
}

function runModule(found: CommonModule, module: { exports: unknown }): void {
  if (!found.wrapper) {
    const value = jsonParse(found.data)
    module.exports = startsWith(found.path, BYTES) ? bytesOf(value as string) : value
    return
  }
  const require = (specifier: string): unknown => {
    const path = resolveModule(specifier, found.path, (name) => modules.get(name) !== undefined)
    if (path.ok) return requireModule(path.path)
    throw new ErrorClass(path.message)
  }
  const exports = module.exports as object
  const slash = found.path.lastIndexOf('/')
  const directory = slash < 0 ? '.' : found.path.slice(0, slash)
  apply(found.wrapper, exports, [exports, require, module, found.path, directory])
}

function findTarget(exports: unknown, handler: string): Target | undefined {
  if (handler !== 'default') return asTarget(property(exports, handler))
  return (
    asTarget(exports) ??
    asTarget(property(exports, 'default')) ??
    asTarget(property(property(exports, 'default'), 'default')) ??
    asTarget(property(exports, 'handler'))
  )
}

function asTarget(value: unknown): Target | undefined {
  if (typeof value === 'function') {
    return { kind: 'function', handle: value as (input: object, context: object) => unknown }
  }
  const handle = property(value, 'fetch')
  if (typeof handle !== 'function') return undefined
  return { kind: 'fetch', owner: value as object, handle: handle as (request: object) => unknown }
}

function property(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  return (value as Record<string, unknown>)[name]
}
