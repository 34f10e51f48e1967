import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

import {
  encodeWithdrawal,
  type Progress,
  readProgress,
  readsLoading,
  WITHDRAWAL_OFFSET,
} from '#sandbox/protocol/progress-marker.ts'

import type { PendingCall } from './pending-call.ts'
import type { SentFrame, WorkerConnection } from './worker-connection.ts'

/** What the worker says that it is about to run. */
export const progressOf = (worker: WorkerConnection): Progress =>
  readProgress(progressBytes(worker))

/** The mark as it is, to be compared with a later one. */
export function markOf(worker: WorkerConnection) {
  const bytes = progressBytes(worker)
  return { mark: bytes.toString('hex'), isLoading: readsLoading(bytes) }
}

/** Empty where there is no mark. */
function progressBytes({ progressPath }: WorkerConnection): Buffer {
  try {
    return readFileSync(progressPath)
  } catch {
    return Buffer.alloc(0)
  }
}

/**
 * Withdraws the calls of frames that wait behind timers or answers inside the worker: it has not begun them, and will not. When
 * it leaves what it was running at that moment, it reports by itself whether it did begin them.
 */
export function withdrawCalls(worker: WorkerConnection): PendingCall[] {
  const progress = progressOf(worker)
  const frames = framesBehind(worker, progress)
  const [first] = frames
  if (!first || frames.every(({ isWithdrawn }) => isWithdrawn)) return []
  writeWithdrawal(worker, encodeWithdrawal(first.seq, frames.length))
  for (const frame of frames) frame.isWithdrawn = true
  return isSame(progressOf(worker), progress)
    ? frames.flatMap((frame) => worker.takeBack(frame))
    : []
}

/** What the worker has certainly not begun while it is where it says. */
function framesBehind(worker: WorkerConnection, progress: Progress): readonly SentFrame[] {
  if (progress.kind !== 'slot') return []
  if (progress.seq === 0) return worker.unacked
  const at = worker.unacked.findIndex(({ seq }) => seq === progress.seq)
  return at < 0 ? [] : worker.unacked.slice(at + 1)
}

const isSame = (one: Progress, other: Progress): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

function writeWithdrawal({ progressPath }: WorkerConnection, bytes: Buffer): void {
  const file = openSync(progressPath, 'r+')
  try {
    writeSync(file, bytes, 0, bytes.length, WITHDRAWAL_OFFSET)
  } finally {
    closeSync(file)
  }
}
