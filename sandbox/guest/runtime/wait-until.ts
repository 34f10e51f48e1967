import { ErrorClass, TypeErrorClass } from '#sandbox/guest/web/primordials.ts'

import { addWork, endWork, isLive, linesOf, workOf } from './live-calls.ts'
import { printLine } from './output.ts'
import { describeThrown } from './thrown.ts'

/** Promises of one call that may be open at once. */
const MAX_WORK = 256

export type WaitUntil = (promise: unknown) => void

/** Keeps the call open after its answer until the promise settles, within the time that the call has. */
export function waitUntilOf(call: number): WaitUntil {
  return (promise) => {
    if (typeof promise !== 'object' || promise === null)
      throw new TypeErrorClass('ctx.waitUntil(promise): give it a promise')
    if (!isLive(call))
      throw new ErrorClass('ctx.waitUntil: the call that this ctx belongs to is over')
    if (workOf(call) >= MAX_WORK)
      throw new ErrorClass(`ctx.waitUntil: ${MAX_WORK} promises of this call are open already`)
    addWork(call)
    void settleWork(call, promise as Promise<unknown>)
  }
}

/** What it rejects with reaches nobody but the log. */
async function settleWork(call: number, promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch (error) {
    const { message, stack } = describeThrown(error)
    const lines = linesOf(call)
    if (lines)
      printLine(call, lines, 'error', `Uncaught in waitUntil: ${stack === '' ? message : stack}`)
  }
  endWork(call)
}
