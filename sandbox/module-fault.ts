import type { ModuleSource, SourceFault } from './protocol.ts'

const MESSAGE_LENGTH = 2000
/** V8 names the place of a syntax error at the end of its message. */
const SYNTAX_PLACE = / \[(.+?):(\d+):\d+\]$/
const STACK_PLACE = /(?:\(|at |^)([^\s()]+?):(\d+):\d+\)?$/

/** What is wrong with code that does not load, with the line where V8 names one. */
export function sourceFaultOf(error: unknown, modules: readonly ModuleSource[]): SourceFault {
  if (!(error instanceof Error)) return { message: `Thrown at the top level: ${String(error)}` }
  const message = String(error.message)
  const place = SYNTAX_PLACE.exec(message)
  if (place) {
    const short = message.slice(0, place.index)
    return fault(short, place[1], Number(place[2]))
  }
  const paths = new Set(modules.map((module) => module.path))
  for (const line of String(error.stack).split('\n').slice(0, 20)) {
    const frame = STACK_PLACE.exec(line.trim())
    if (frame?.[1] !== undefined && paths.has(frame[1])) {
      return fault(message, frame[1], Number(frame[2]))
    }
  }
  return { message: message.slice(0, MESSAGE_LENGTH) }
}

const fault = (message: string, path: string | undefined, line: number): SourceFault => ({
  message: message.slice(0, MESSAGE_LENGTH),
  ...(path === undefined ? {} : { path, line }),
})
