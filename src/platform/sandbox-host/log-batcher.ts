import { type FromWorker, LEVELS } from '#sandbox/protocol/protocol.ts'

import type { Call } from './call.ts'
import type { PendingCall } from './pending-call.ts'
import type { LogLine } from './sandbox.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** Collects the lines of one frame. Lines of ad-hoc code go to the one who runs it. */
export class LogBatcher {
  readonly #write: (lines: readonly LogLine[]) => void
  #lines: LogLine[] = []

  constructor(write: (lines: readonly LogLine[]) => void) {
    this.#write = write
  }

  add(worker: WorkerConnection, record: Extract<FromWorker, { kind: 'log' }>): void {
    const [slot, callId] = record.numbers
    const pending = worker.activeCalls.get(callId) ?? soleCall(worker, slot)
    // A program that is retired is only known by the calls that finish in it.
    const program = pending?.program ?? worker.programOf(slot)
    if (!program) return
    const line = { ...lineOf(record, pending?.call), siteId: program.siteId }
    if (pending?.logs) pending.logs.push(line)
    else this.#lines.push(line)
  }

  flush(): void {
    if (this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#write(lines)
  }
}

const lineOf = (
  { numbers: [, , level, atMs], texts: [message] }: Extract<FromWorker, { kind: 'log' }>,
  call: Call | undefined,
): Omit<LogLine, 'siteId'> => ({
  at: new Date(atMs),
  level: LEVELS[level] ?? 'error',
  operation: call?.operation ?? null,
  requestId: call?.requestId ?? null,
  message,
})

/** A call whose lines are wanted with its outcome has its context to itself: whatever is printed there is its own. */
function soleCall(worker: WorkerConnection, slot: number): PendingCall | undefined {
  const [call] = worker.activeCallsIn(slot)
  return call?.logs ? call : undefined
}
