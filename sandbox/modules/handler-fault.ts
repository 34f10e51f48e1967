import type { SlotDefinition, SourceFault } from '#sandbox/protocol/protocol.ts'

import { sourcePlaceAt } from './module-fault.ts'
import { exportsOf } from './module-syntax.ts'
import { originalPlace } from './original-place.ts'

const SHOWN = 10

/** What is wrong with a module that was evaluated and has no handler: its name, what is there instead, and where. */
export function handlerFault({
  entry: path,
  handler,
  modules,
}: Pick<SlotDefinition, 'entry' | 'handler' | 'modules'>): SourceFault {
  const source = modules.find((module) => module.path === path)
  const names = source?.format === 'esm' ? exportsOf(source.code) : new Map<string, number>()
  const missing = `"${path}" has no handler "${handler}": export a function of that name`
  const offset = names.get(handler)
  if (source !== undefined && offset !== undefined) {
    return {
      message: `${missing}, what it exports so is none`,
      path,
      ...originalPlace(source, sourcePlaceAt(source.code, offset)),
    }
  }
  if (names.size === 0) return { message: missing, path }
  const shown = [...names.keys()].slice(0, SHOWN).map((name) => `"${name}"`)
  const more = names.size > SHOWN ? ', …' : ''
  return { message: `${missing}; it exports ${shown.join(', ')}${more}`, path }
}
