import type { PreparedSchema } from '#sandbox/guest/schema/prepared-schema.ts'

import type { LineBudget } from './output.ts'
import { SafeMap } from './safe-map.ts'

interface LiveCall {
  readonly id: number
  readonly lines: LineBudget
  /** What its result must be. */
  output: PreparedSchema | undefined
  /** Host calls that it waits for. */
  pending: number
  /** Promises given to `waitUntil` that have not settled. */
  work: number
  /** Ends the call once that work is done; set when it has been answered or has failed. */
  end: (() => void) | undefined
}

const live = new SafeMap<LiveCall>()
/** Those of them whose clients have gone. */
const leaving = new SafeMap<LiveCall>()
let current = 0
let newest = 0

export function addCall(id: number, lines: LineBudget): void {
  live.set(id, { id, lines, output: undefined, pending: 0, work: 0, end: undefined })
  newest = id
}

export function forgetCall(id: number): void {
  live.delete(id)
  leaving.delete(id)
}

/** The client of the call has gone. */
export function leaveCall(id: number): void {
  const call = live.get(id)
  if (call) leaving.set(id, call)
}

/** Ends the calls whose clients have gone and that have nothing in flight: neither a host call, nor work of `waitUntil`. */
export function endLeft(ended: (id: number) => void): void {
  if (leaving.size === 0) return
  leaving.forEach(({ id, pending, work }) => {
    if (pending > 0 || work > 0) return
    forgetCall(id)
    ended(id)
  })
}

/** Counts work that the call goes on with after its answer. */
export function addWork(id: number): void {
  const call = live.get(id)
  if (call) call.work += 1
}

export function endWork(id: number): void {
  const call = live.get(id)
  if (!call) return
  call.work -= 1
  if (call.work === 0) call.end?.()
}

/** Has the result of the call checked. */
export function promiseOutput(id: number, output: PreparedSchema): void {
  const call = live.get(id)
  if (call) call.output = output
}

export const outputOf = (id: number): PreparedSchema | undefined => live.get(id)?.output

export const workOf = (id: number): number => live.get(id)?.work ?? 0

/** Does that when the last of the call's work is done. */
export function afterWork(id: number, end: () => void): void {
  const call = live.get(id)
  if (call) call.end = end
}

/** Whether the call is open and has not come to its answer. */
export const isUnanswered = (id: number): boolean => {
  const call = live.get(id)
  return call !== undefined && call.end === undefined
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
