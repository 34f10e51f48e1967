import type { PrintLevel } from '#sandbox/guest/web/host.ts'
import { slice } from '#sandbox/guest/web/primordials.ts'

import { configured } from './config.ts'
import { LINE } from './record-kinds.ts'

/** Records of `FromGuest`, collected until the host takes them. Strings only: site code can hook arrays. */
let heads = ''
let body = ''

/** `head` is the character code of the kind and the numbers: `82,12`. */
export function emit(head: string, first?: string, second?: string, third?: string): void {
  let line = head
  if (first !== undefined) {
    line += `,${first.length}`
    body += first
  }
  if (second !== undefined) {
    line += `,${second.length}`
    body += second
  }
  if (third !== undefined) {
    line += `,${third.length}`
    body += third
  }
  heads += `,${line}`
}

/** How much of it was read, and is kept in case that it did not arrive. */
let readHeads = 0
let readBody = 0

/** With `keeps` the same can be read again, until the next entry begins. */
export function takeOutput(first: string, keeps: boolean): string {
  const text = `${first}${heads}\n${body}`
  if (keeps) {
    readHeads = heads.length
    readBody = body.length
  } else {
    heads = ''
    body = ''
  }
  return text
}

/** What was emitted after it was read stays. */
export function dropReadOutput(): void {
  if (readHeads === 0 && readBody === 0) return
  heads = slice(heads, readHeads)
  body = slice(body, readBody)
  readHeads = 0
  readBody = 0
}

export const cut = (text: string, length: number): string =>
  text.length > length ? slice(text, 0, length) : text

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
