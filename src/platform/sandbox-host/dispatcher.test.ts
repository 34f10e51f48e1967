import { Socket } from 'node:net'

import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { FROM_WORKER } from '#sandbox/protocol/grammars.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

import { Dispatcher } from './dispatcher.ts'
import type { PendingCall } from './pending-call.ts'
import type { Program } from './sandbox.ts'
import { pendingCall, programOf as programWith } from './testing/pending-call.ts'
import { WorkerConnection } from './worker-connection.ts'

const PROVEN_AFTER = 8
const WIDE = { concurrency: 100, queueLength: 100, queueMs: 60_000 }

const programOf = (siteId: string): Program => programWith(siteId, WIDE)

let dispatcher: Dispatcher
let worker: WorkerConnection
let lastId = 0
beforeEach(() => {
  // A worker that has not answered for five milliseconds counts as stuck, and a busy machine stops for longer.
  vi.useFakeTimers({ toFake: ['performance'] })
  dispatcher = new Dispatcher({
    environment: { hostCall: async () => 'null', log() {} },
    logger: pino({ enabled: false }),
    ordinaryHosts: 1,
    needed() {},
  })
  worker = connected('ordinary')
})
afterEach(() => {
  vi.useRealTimers()
  return dispatcher.close()
})

/** A worker that nothing is sent to but into a buffer: what it was given, `unacked` says. */
function connected(role: 'ordinary' | 'quarantine'): WorkerConnection {
  const place = { pid: 1, progressPath: '', place: { role, index: 0 } } as const
  const socket = new Socket()
  socket.write = () => true
  const connection = new WorkerConnection(socket, place, dispatcher.events)
  dispatcher.onWorkerConnected(connection)
  return connection
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function submitted(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) dispatcher.submit(pending(program))
  await turn()
}

const pending = (program: Program): PendingCall =>
  pendingCall((lastId += 1), { program, queuedMs: performance.now() })

/** The calls of each frame that the worker has and has not acknowledged, by site. */
const frames = (of = worker): string[][] =>
  of.unacked.map(({ sections }) =>
    sections.flatMap(({ calls }) => calls.map(({ queueKey }) => queueKey)),
  )

/** The worker answers all that it was given. */
async function answered(): Promise<void> {
  const said = new RecordWriter(FROM_WORKER)
  for (const id of worker.activeCalls.keys()) said.add('result', [id, 100], ['null'])
  const last = worker.unacked.at(-1)
  if (last) said.add('acknowledge', [last.seq], [])
  worker.receive(said.take())
  await turn()
}

async function proven(program: Program): Promise<void> {
  for (let call = 0; call < PROVEN_AFTER; call += 1) {
    await submitted(program)
    await answered()
  }
}

describe('a call', () => {
  test('of a program that is proven shares its frame, and others follow it', async () => {
    const known = programOf('known')
    await proven(known)
    await submitted(known, known, known)
    expect(frames()).toEqual([['known', 'known', 'known']])
    await submitted(known)
    expect(frames()).toEqual([['known', 'known', 'known'], ['known']])
  })

  test('of one that is not rides alone, and nothing rides behind it', async () => {
    const known = programOf('known')
    await proven(known)
    await submitted(programOf('new'), known, known)
    expect(frames()).toEqual([['new']])
    await submitted(known)
    expect(frames()).toEqual([['new']])
    await answered()
    expect(frames()).toEqual([['known', 'known', 'known']])
  })

  test('of one that brought a host down goes to a host for such, alone, though it was proven', async () => {
    const [known, guilty] = [programOf('known'), programOf('guilty')]
    await proven(known)
    await proven(guilty)
    await submitted(guilty)
    const { seq = 0, sections = [] } = worker.unacked[0] ?? {}
    const progress = { kind: 'section', seq, index: sections[0]?.index ?? 0 } as const
    dispatcher.onWorkerLost(worker, { cause: 'memoryMb', progress, isLoading: false, silentMs: 1 })
    worker = connected('ordinary')
    const apart = connected('quarantine')
    await submitted(guilty, known, known)
    expect(frames()).toEqual([['known', 'known']])
    // Its next call is held back for a moment, as after every loss.
    vi.advanceTimersByTime(1000)
    await expect.poll(() => frames(apart)).toEqual([['guilty']])
  })
})

describe('answers that come all the time', () => {
  /** The worker asks for something for each open call, and acknowledges the oldest of its frames. */
  async function asked(calls: readonly number[]): Promise<void> {
    const said = new RecordWriter(FROM_WORKER)
    for (const id of calls) said.add('hostCall', [(lastId += 1), id], ['fetch', '{}'])
    const [first] = worker.unacked
    if (first) said.add('acknowledge', [first.seq], [])
    worker.receive(said.take())
    await turn()
  }

  test('leave room for the calls of others', async () => {
    const [streaming, other] = [programOf('streaming'), programOf('other')]
    await proven(streaming)
    await proven(other)
    await submitted(streaming, streaming, streaming, streaming)
    const streams = [...worker.activeCalls.keys()]
    for (let step = 0; step < 10; step += 1) await asked(streams)
    expect(worker.unacked).toHaveLength(2)
    dispatcher.submit(pending(other))
    await asked(streams)
    expect(frames().flat()).toEqual(['other'])
    for (let step = 0; step < 10; step += 1) await asked(streams)
    expect(worker.unacked).toHaveLength(2)
  })
})
