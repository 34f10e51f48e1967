import type { LineBudget } from './output.ts'
import { SafeMap } from './safe-map.ts'

interface LiveCall {
  readonly id: number
  readonly lines: LineBudget
}

const live = new SafeMap<LiveCall>()
let current = 0
let newest = 0

export function addCall(id: number, lines: LineBudget): void {
  live.set(id, { id, lines })
  newest = id
}

export function forgetCall(id: number): void {
  live.delete(id)
}

export const isLive = (id: number): boolean => live.get(id) !== undefined

export const linesOf = (id: number): LineBudget | undefined => live.get(id)?.lines

/** The call whose synchronous part is running; 0 outside of one. */
export const currentCall = (): number => current

/** The call that what happens now certainly belongs to, or 0. */
export function attributedCall(): number {
  if (current !== 0) return current
  return live.size === 1 && live.get(newest) ? newest : 0
}

/** Runs `work` as part of a call. A termination by V8 skips `finally`, so the host can tell which call it was. */
export function runInCall(call: number, work: () => void): void {
  const before = current
  current = live.get(call) ? call : 0
  try {
    work()
  } finally {
    current = before
  }
}
