import type { PrintLevel } from '#sandbox/guest/web/host.ts'

import { configured } from './config.ts'
import { cut, emit } from './output.ts'
import { LINE } from './record-kinds.ts'

/** How many lines may still be printed, by one call or by code that belongs to none. */
export interface LineBudget {
  left: number
}

const LEVEL: Readonly<Record<PrintLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }
const LINE_MARK = '… [line cut]'

/** Emits one line for `call` (0: for none), until the budget is spent; then one line that says so. */
export function printLine(call: number, budget: LineBudget, level: PrintLevel, text: string): void {
  if (budget.left < 0) return
  budget.left -= 1
  if (budget.left < 0) {
    const { logLines } = configured()
    emit(`${LINE},${call},2`, `[further output dropped: a call may print ${logLines} lines]`)
    return
  }
  const { logLineLength } = configured()
  const line = text.length > logLineLength ? cut(text, logLineLength) + LINE_MARK : text
  emit(`${LINE},${call},${LEVEL[level]}`, line)
}
