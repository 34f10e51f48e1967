import type { ModuleSource, SourceFault } from '#sandbox/protocol/protocol.ts'

import { originalPlace } from './original-place.ts'

const MESSAGE_LENGTH = 2000
/** V8 names the place of a syntax error at the end of its message. */
const SYNTAX_PLACE = / \[(.+?):(\d+):(\d+)\]$/
const STACK_PLACE = /(?:\(|at |^)([^\s()]+?):(\d+):(\d+)\)?$/
const FRAMES = 20

/** What is wrong with code that does not load, with the place where V8 names one. `error` may be whatever can be thrown. */
export function sourceFaultOf(error: unknown, modules: readonly ModuleSource[]): SourceFault {
  if (!(error instanceof Error)) {
    return { message: `Thrown at the top level: ${thrownText(error)}`.slice(0, MESSAGE_LENGTH) }
  }
  const message = String(error.message)
  const place = SYNTAX_PLACE.exec(message)
  if (place) {
    const found = fault(message.slice(0, place.index), place, modules)
    return error.name === 'SyntaxError' ? { ...found, isSyntax: true } : found
  }
  // The guest wrote it, and knows where the code comes from.
  for (const line of String(error.stack).split('\n').slice(0, FRAMES)) {
    const frame = STACK_PLACE.exec(line.trim())
    if (modules.some(({ path }) => path === frame?.[1])) return fault(message, frame)
  }
  return { message: message.slice(0, MESSAGE_LENGTH) }
}

/** The line and column of `offset`. */
export function sourcePlaceAt(code: string, offset: number): { line: number; column: number } {
  const before = code.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const thrownText = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null ? 'an object that is no Error' : String(thrown)

function fault(
  message: string,
  place: RegExpExecArray | null,
  modules: readonly ModuleSource[] = [],
): SourceFault {
  const short = message.slice(0, MESSAGE_LENGTH)
  const [, path, line, column] = place ?? []
  if (path === undefined) return { message: short }
  const module = modules.find((one) => one.path === path) ?? {}
  const written = originalPlace(module, { line: Number(line), column: Number(column) })
  return { message: short, path, ...written }
}
