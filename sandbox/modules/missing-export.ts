import type { ModuleSource, SourceFault } from '#sandbox/protocol/protocol.ts'

import { sourcePlaceAt } from './module-fault.ts'
import { importsOf } from './module-syntax.ts'
import { originalPlace } from './original-place.ts'

/** V8 says what is missing where, and not who asked for it. */
const MISSING = /^The requested module '(.+)' does not provide an export named '(.+)'$/s

/** The same fault with the place of the import that asks for what is not there. */
export function atItsImport(fault: SourceFault, modules: readonly ModuleSource[]): SourceFault {
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
