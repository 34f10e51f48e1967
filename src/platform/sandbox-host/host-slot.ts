import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import process from 'node:process'

import type { BoundedHost } from './host-memory-bound.ts'
import type { HostExit, HostProcess } from './host-process.ts'
import { type SlotKey, yields } from './slot-key.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** Of the hosts that yield to the others; their calls must still come to their end in time. */
const NICENESS = 5

/** A host process and its connection. What it sent is read to the end before its calls are given up. */
export interface Host {
  readonly process: HostProcess
  slot: HostSlot
  worker: WorkerConnection | undefined
  isConnected: boolean
  exit: HostExit | undefined
}

/** A slot for a host, whichever it is. */
export interface HostSlot {
  readonly place: SlotKey
  host: Host | undefined
  /** Hosts that were lost in it. */
  losses: number
  /** How many of them, one after the other, ended soon after their start. */
  shortLives: number
  /** Whether the next one waits for its time, because they end again and again. */
  isResting: boolean
  /** Ends the host that is not needed any more; undefined when it was not used recently. */
  ending: NodeJS.Timeout | undefined
}

/** Sites that run long, or brought a host down, and code that is only checked have what the others leave of the processor. */
export function prioritize({ process, slot }: Host): void {
  if (yields(slot.place.role)) lowerPriority(process.pid, NICENESS)
}

export function endUnneeded(slot: HostSlot): void {
  const { host, ending } = slot
  const worker = host?.worker
  if (worker && worker.activeCalls.size > 0) {
    ending?.refresh()
    return
  }
  slot.ending = undefined
  if (worker) worker.isLeaving = true
  void host?.process.dismiss()
}

export const boundedHost = ({ process, slot, worker, isConnected }: Host): BoundedHost => ({
  pid: process.pid,
  role: worker?.place.role ?? slot.place.role,
  isReady: isConnected,
  isLeaving: worker?.isLeaving === true,
  calls: worker?.activeCalls.size ?? 0,
})

export const newSlot = (place: SlotKey): HostSlot => ({
  place,
  host: undefined,
  losses: 0,
  shortLives: 0,
  isResting: false,
  ending: undefined,
})

/**
 * Lets other processes go first wherever both want the processor: with a `niceness` of 5 a process gets about a third
 * of the time of one that wants it as well. Linux keeps a value for each thread, and where sessions
 * are scheduled against each other one for the session. Does nothing where the system does not allow it.
 */
function lowerPriority(pid: number, niceness: number): void {
  if (process.platform !== 'linux' || pid === 0) return
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)))
  attempt(() => {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), niceness)
  })
}

function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // It has ended, or the system has no such setting: its limits still hold.
  }
}
