import type { LineBudget } from './output.ts'
import { SafeMap } from './safe-map.ts'

interface LiveCall {
  readonly id: number
  readonly lines: LineBudget
  /** Host calls that it waits for. */
  pending: number
}

const live = new SafeMap<LiveCall>()
let current = 0
let newest = 0

export function addCall(id: number, lines: LineBudget): void {
  live.set(id, { id, lines, pending: 0 })
  newest = id
}

export function forgetCall(id: number): void {
  live.delete(id)
}

export const isLive = (id: number): boolean => live.get(id) !== undefined

export const linesOf = (id: number): LineBudget | undefined => live.get(id)?.lines

/** Counts a host call of that call in with 1 and out with -1. */
export function countPending(id: number, change: 1 | -1): void {
  const call = live.get(id)
  if (call) call.pending += change
}

export const pendingOf = (id: number): number => live.get(id)?.pending ?? 0

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
