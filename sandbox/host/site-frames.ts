import { originalPlace } from '#sandbox/modules/original-place.ts'
import type { StackPlace, ModuleSource } from '#sandbox/protocol/protocol.ts'

const FRAME = /^\s*at (?:(.{1,200}?) \()?([^()]{1,500}?):(\d{1,9}):(\d{1,9})\)?$/
const MAX_FRAMES = 10

/** What of a site's code was at work when it was ended. */
export interface SiteActivity {
  /** The innermost of its frames. */
  readonly at?: StackPlace
  /** In lines: what it waited for, and the frames. */
  readonly doing?: string
}

/** The site's own part of the stack that V8 wrote when it ended what ran. */
export function runningCode(error: unknown, modules: readonly ModuleSource[]): SiteActivity {
  const frames: string[] = []
  let innermost: StackPlace | undefined
  for (const text of error instanceof Error ? String(error.stack).split('\n') : []) {
    const frame = frameOf(text, modules)
    if (!frame) continue
    const { name, module } = frame
    const place = originalPlace(module, frame.place)
    innermost ??= { path: module.path, ...place }
    const where = `${module.path}:${place.line}:${place.column}`
    frames.push(`    at ${name === undefined ? where : `${name} (${where})`}`)
    if (frames.length === MAX_FRAMES) break
  }
  return innermost ? { at: innermost, doing: frames.join('\n') } : {}
}

/** What the guest says that a call waits for: its frames are where the code was written. */
export function waitingCode(text: string, modules: readonly ModuleSource[]): SiteActivity {
  for (const line of text.split('\n')) {
    const frame = frameOf(line, modules)
    if (frame) return { at: { path: frame.module.path, ...frame.place }, doing: text }
  }
  return { doing: text }
}

function frameOf(text: string, modules: readonly ModuleSource[]) {
  const [, name, path, line, column] = FRAME.exec(text) ?? []
  const module = modules.find((one) => one.path === path)
  return module && { name, module, place: { line: Number(line), column: Number(column) } }
}
