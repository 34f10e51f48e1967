import type { ModuleSource, SourceFault } from './protocol.ts'

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
  if (place) return fault(message.slice(0, place.index), place)
  const paths = new Set(modules.map((module) => module.path))
  for (const line of String(error.stack).split('\n').slice(0, FRAMES)) {
    const frame = STACK_PLACE.exec(line.trim())
    if (frame?.[1] !== undefined && paths.has(frame[1])) return fault(message, frame)
  }
  return { message: message.slice(0, MESSAGE_LENGTH) }
}

/** The line and column of what stands at `offset`. */
export function sourcePlaceAt(code: string, offset: number): { line: number; column: number } {
  const before = code.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const thrownText = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null ? 'an object that is no Error' : String(thrown)

function fault(message: string, [, path, line, column]: RegExpExecArray): SourceFault {
  return {
    message: message.slice(0, MESSAGE_LENGTH),
    ...(path === undefined ? {} : { path, line: Number(line), column: Number(column) }),
  }
}
