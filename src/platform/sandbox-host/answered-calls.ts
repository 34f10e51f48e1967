import type { FromWorker } from '#sandbox/protocol/protocol.ts'

import type { PendingCall } from './pending-call.ts'
import type { CallOutcome } from './sandbox.ts'

/** Calls that have given their result and go on inside their workers. */
export class AnsweredCalls {
  readonly #calls = new Set<PendingCall>()
  readonly #waiting: (() => void)[] = []

  /** Gives a call's result to who waits for it; what `settle` is told later ends the rest. */
  add(
    call: PendingCall | undefined,
    { numbers: [, cpuUs], texts: [result] }: Extract<FromWorker, { kind: 'answered' }>,
  ): void {
    if (!call || call.isAnswered) return
    const { promise: rest, resolve } = Promise.withResolvers<CallOutcome>()
    call.settle({ ok: true, result, cpuUs, rest })
    call.settle = resolve
    call.isAnswered = true
    this.#calls.add(call)
  }

  /** The call has come to its end. */
  delete(call: PendingCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when none is left. */
  ended(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
