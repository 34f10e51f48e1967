import type { Socket } from 'node:net'

import { describe, expect, test } from 'vitest'

import type { Progress } from '#sandbox/protocol/progress-marker.ts'
import { LOAD_CPU_MS } from '#sandbox/protocol/protocol.ts'

import { classifyLostCalls, type WorkerExit } from './lost-calls.ts'
import { pendingCall } from './testing/pending-call.ts'
import { WorkerConnection } from './worker-connection.ts'

/** A worker with two batches in flight: calls 1 and 2 of two sites in the first, 3 in the second; 9 was sent before. */
function busyWorker(): WorkerConnection {
  const socket = { write: () => true } as unknown as Socket
  const worker = new WorkerConnection(
    socket,
    { pid: 1, progressPath: '', place: { role: 'ordinary', index: 0 } },
    { acknowledged: () => {}, withdrawn: () => {}, record: () => {}, received: () => {} },
  )
  const options = { nowMs: 0, risky: false }
  worker.send([pendingCall(9)], options)
  worker.receive('65,1\n')
  worker.send([pendingCall(1), pendingCall(2)], options)
  worker.send([pendingCall(3)], options)
  return worker
}

function outcome(progress: Progress, cause: WorkerExit['cause']) {
  const worker = busyWorker()
  const found = classifyLostCalls(worker, { cause, progress, isLoading: false, silentMs: 300 })
  return {
    culprits: found.offenders.map(({ call }) => call.id),
    interrupted: found.interrupted.map((call) => call.id),
    untouched: found.notStarted.map((call) => call.id),
  }
}

const sectionAt = (seq: number, nth: number): Progress => ({
  kind: 'section',
  seq,
  index: busyWorker().unacked[seq - 2]?.sections[nth]?.index ?? -1,
})

describe('when a worker dies', () => {
  test('without a mark, the first section of the oldest batch was running', () => {
    expect(outcome({ kind: 'idle' }, 'memoryMb')).toEqual({
      culprits: [1],
      interrupted: [9],
      untouched: [2, 3],
    })
  })

  test('the marked section was running, and those before it are lost', () => {
    expect(outcome(sectionAt(2, 1), 'memoryMb')).toEqual({
      culprits: [2],
      interrupted: [9, 1],
      untouched: [3],
    })
  })

  test('in its second batch, the whole first one is lost', () => {
    expect(outcome(sectionAt(3, 0), 'cpuMs')).toEqual({
      culprits: [3],
      interrupted: [9, 1, 2],
      untouched: [],
    })
  })

  test('a mark of a batch that was acknowledged says nothing', () => {
    expect(outcome({ kind: 'section', seq: 1, index: 1 }, 'memoryMb')).toEqual({
      culprits: [1],
      interrupted: [9],
      untouched: [2, 3],
    })
  })

  test('in a timer, the calls of that function did it and nothing of the batches was begun', () => {
    expect(outcome({ kind: 'slot', seq: 0, slot: 1 }, 'memoryMb')).toEqual({
      culprits: [9],
      interrupted: [],
      untouched: [1, 2, 3],
    })
  })

  test('in the answers of a batch, all of its sections had been entered', () => {
    expect(outcome({ kind: 'slot', seq: 2, slot: 1 }, 'memoryMb')).toEqual({
      culprits: [9],
      interrupted: [1, 2],
      untouched: [3],
    })
  })

  test('while it loaded modules, it took longer than loading may', () => {
    const exit = { cause: 'cpuMs', progress: sectionAt(2, 0), silentMs: 300 } as const
    const limitOf = (isLoading: boolean) => {
      const [offender] = classifyLostCalls(busyWorker(), { ...exit, isLoading }).offenders
      return offender?.failure
    }
    expect(limitOf(true)).toMatchObject({ what: 'cpuMs', limit: LOAD_CPU_MS, used: LOAD_CPU_MS })
    expect(limitOf(false)).toMatchObject({ what: 'cpuMs', used: 300 })
  })

  test('of something else than memory or silence, no call is to blame', () => {
    expect(outcome({ kind: 'idle' }, 'other')).toEqual({
      culprits: [],
      interrupted: [9, 1],
      untouched: [2, 3],
    })
  })
})
