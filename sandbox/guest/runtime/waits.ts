import { forEachPending } from './host-calls.ts'
import { framesOf } from './host-error.ts'
import { cut } from './output.ts'
import { forEachTimer } from './timers.ts'

const MAX_WAITS = 3
const MAX_LENGTH = 4000

/** What a call waits for, and where its code asked for that, in lines; empty when nothing that is known of can settle it. */
export function describeWaits(call: number): string {
  let text = ''
  let waits = 0
  const add = (what: string, asker: number, at: { readonly stack?: unknown } | undefined): void => {
    // Code that runs while several calls are open is nobody's for certain.
    if ((asker !== call && asker !== 0) || waits === MAX_WAITS) return
    waits += 1
    text += `${text === '' ? '' : '\n'}waiting for ${what}${framesOf(at) ?? ''}`
  }
  forEachPending((pending) => add(pending.name, pending.call, pending.at))
  forEachTimer((timer) => add('a timer', timer.call, timer.at))
  return cut(text, MAX_LENGTH)
}
