import { type FromWorker, LEVELS } from '#sandbox/protocol.ts'

import type { Lane } from './lane.ts'
import type { LogLine } from './sandbox.ts'

/** Collects the lines of one frame. Lines of ad-hoc code go to the one who runs it. */
export class LogBuffer {
  readonly #write: (lines: readonly LogLine[]) => void
  #lines: LogLine[] = []

  constructor(write: (lines: readonly LogLine[]) => void) {
    this.#write = write
  }

  add(lane: Lane, record: Extract<FromWorker, { kind: 'G' }>): void {
    const [slot, callId, level, atMs] = record.numbers
    const program = lane.programOf(slot)
    if (!program) return
    const call = lane.live.get(callId) ?? soleAdHoc(lane, slot)
    const line: LogLine = {
      siteId: program.siteId,
      at: new Date(atMs),
      level: LEVELS[level] ?? 'error',
      operation: call?.operation ?? null,
      requestId: call?.requestId ?? null,
      message: record.texts[0],
    }
    if (call?.logs) call.logs.push(line)
    else this.#lines.push(line)
  }

  flush(): void {
    if (this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#write(lines)
  }
}

/** Ad-hoc code has its context to itself: whatever is printed there is its own. */
function soleAdHoc(lane: Lane, slot: number) {
  const [call] = lane.liveIn(slot)
  return call?.adHoc === true ? call : undefined
}
