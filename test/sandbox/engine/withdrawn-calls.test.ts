import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { withdrawCalls } from '#platform/sandbox-host/progress-file.ts'
import { pendingCall } from '#platform/sandbox-host/testing/pending-call.ts'
import { WorkerConnection } from '#platform/sandbox-host/worker-connection.ts'
import { FROM_WORKER } from '#sandbox/protocol/grammars.ts'
import { ProgressMarker } from '#sandbox/protocol/progress-marker.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

const OPTIONS = { nowMs: 0, risky: false }

let directory: string
let marker: ProgressMarker
let worker: WorkerConnection
/** Calls that the worker said it had not begun. */
let returned: number[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'croft-progress-'))
  const progressPath = join(directory, 'mark')
  marker = new ProgressMarker(progressPath)
  returned = []
  worker = new WorkerConnection(
    { write: () => true } as unknown as Socket,
    { pid: 1, progressPath, place: { role: 'ordinary', index: 0 } },
    {
      acknowledged: () => {},
      withdrawn: (calls) => void returned.push(...calls.map(({ id }) => id)),
      record: () => {},
      received: () => {},
    },
  )
  worker.send([pendingCall(1)], OPTIONS)
  worker.send([pendingCall(2), pendingCall(3)], OPTIONS)
})
afterEach(() => {
  marker.close()
  rmSync(directory, { recursive: true })
})

function said(kind: 'withdrawn' | 'acknowledge', seq: number): string {
  const writer = new RecordWriter(FROM_WORKER)
  writer.add(kind, [seq], [])
  return writer.take()
}

const withdrawn = () => withdrawCalls(worker).map(({ id }) => id)

describe('calls are withdrawn', () => {
  test('from behind timers, all of them, and once', () => {
    marker.slot(9, 0)
    expect(withdrawn()).toEqual([1, 2, 3])
    expect([...worker.activeCalls.keys()]).toEqual([])
    expect(withdrawn()).toEqual([])
    marker.idle()
    expect([1, 2, 3].map((seq) => marker.isWithdrawn(seq))).toEqual([true, true, false])
  })

  test('from behind the answers of a batch, those of later ones', () => {
    marker.slot(9, 1)
    expect(withdrawn()).toEqual([2, 3])
    marker.idle()
    expect([1, 2].map((seq) => marker.isWithdrawn(seq))).toEqual([false, true])
  })

  test.each([
    ['is in a section', () => marker.section(1, 0)],
    ['says nothing', () => marker.idle()],
    ['is in answers of a batch that was acknowledged', () => marker.slot(9, 7)],
  ])('never while the worker %s', (_what, mark) => {
    mark()
    expect(withdrawn()).toEqual([])
    expect(worker.activeCalls.size).toBe(3)
    expect(marker.isWithdrawn(1)).toBe(false)
  })

  test('when the worker says that it did not begin them, and not when it acknowledges them', () => {
    worker.receive(said('withdrawn', 1))
    expect(returned).toEqual([1])
    worker.receive(said('acknowledge', 2))
    expect(returned).toEqual([1])
    expect([...worker.activeCalls.keys()]).toEqual([2, 3])
    expect(worker.unacked).toEqual([])
  })
})
