import type { Progress } from '#sandbox/protocol/progress-marker.ts'
import { type GuestFailure, LOAD_CPU_MS } from '#sandbox/protocol/protocol.ts'

import type { PendingCall } from './pending-call.ts'
import type { WorkerConnection, SentSection } from './worker-connection.ts'

/** Why a worker is gone. */
export interface WorkerExit {
  /** Memory and silence are the fault of the code that ran; other causes are not. A dismissed one was not needed by this service. */
  readonly cause: 'memoryMb' | 'cpuMs' | 'other' | 'dismissed'
  /** What it was running, by its own account. */
  readonly progress: Progress
  /** Whether it loaded a function's modules. */
  readonly isLoading: boolean
  /** How long it had been silent, in milliseconds. */
  readonly silentMs: number
}

export interface LostCalls {
  readonly offenders: readonly { readonly call: PendingCall; readonly failure: GuestFailure }[]
  /** Begun, and lost with their isolates. */
  readonly interrupted: readonly PendingCall[]
  /** Never begun: they can be run elsewhere. */
  readonly notStarted: readonly PendingCall[]
}

/** Tells the call that brought a worker down from those that were only in there with it. */
export function classifyLostCalls(worker: WorkerConnection, exit: WorkerExit): LostCalls {
  const running = runningSection(worker, exit.progress)
  const suspects = running.calls.filter((call) => worker.activeCalls.has(call.id))
  const notStarted = running.later.filter((call) => worker.activeCalls.has(call.id))
  const guilty = exit.cause === 'memoryMb' || exit.cause === 'cpuMs'
  const apart = new Set([...notStarted, ...(guilty ? suspects : [])])
  return {
    offenders: guilty ? suspects.map((call) => ({ call, failure: failureOf(call, exit) })) : [],
    interrupted: [...worker.activeCalls.values()].filter((call) => !apart.has(call)),
    notStarted,
  }
}

/** For the log. */
export const describeLoss = ({ cause }: WorkerExit, lost: LostCalls) => ({
  cause,
  offenders: lost.offenders.map(({ call: { program, definition, call } }) => ({
    siteId: program.siteId,
    function: definition.name,
    operation: call.operation,
    requestId: call.requestId,
  })),
  interrupted: lost.interrupted.length,
  putBack: lost.notStarted.length,
})

/** What was running, and what was still to come. */
function runningSection(worker: WorkerConnection, progress: Progress): Running {
  const at =
    progress.kind === 'idle' ? -1 : worker.unacked.findIndex((frame) => frame.seq === progress.seq)
  const [frame, ...next] = worker.unacked.slice(Math.max(0, at))
  const sections = frame?.sections ?? []
  const later = next.flatMap((one) => callsOf(one.sections))
  if (progress.kind === 'slot' && (at >= 0 || progress.seq === 0)) {
    // Answers are handed over after every section of their frame, timers run between frames.
    const rest = at >= 0 ? [] : callsOf(sections)
    return { calls: worker.activeCallsIn(progress.slot), later: [...rest, ...later] }
  }
  const index = progress.kind === 'section' && at >= 0 ? progress.index : firstIndex(sections)
  const running = sections.filter((section) => section.index === index)
  const rest = sections.filter((section) => section.index > index)
  return { calls: callsOf(running), later: [...callsOf(rest), ...later] }
}

/** The first section of a frame is not marked. */
const firstIndex = (sections: readonly SentSection[]): number => sections[0]?.index ?? 0

interface Running {
  readonly calls: readonly PendingCall[]
  readonly later: readonly PendingCall[]
}

const callsOf = (sections: readonly SentSection[]): PendingCall[] =>
  sections.flatMap((section) => section.calls)

function failureOf(call: PendingCall, exit: WorkerExit): GuestFailure {
  if (exit.cause === 'memoryMb') {
    const { memoryMb } = call.definition
    return { kind: 'limit', what: 'memoryMb', limit: memoryMb, used: memoryMb }
  }
  const { cpuMs } = call.program.limits
  const limit = exit.isLoading ? Math.max(LOAD_CPU_MS, cpuMs) : cpuMs
  return { kind: 'limit', what: 'cpuMs', limit, used: Math.max(limit, exit.silentMs) }
}
