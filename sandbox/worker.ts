import { connect } from 'node:net'

import { Engine } from './engine.ts'
import { encodeFrame, FrameReader } from './frames.ts'
import { FROM_WORKER } from './grammars.ts'
import { GuestParts } from './guest-parts.ts'
import { syntaxReady } from './module-syntax.ts'
import type { GuestScripts } from './part-names.ts'
import { ProgressMarker } from './progress-marker.ts'
import { RecordWriter } from './records.ts'
import { loadSnapshot } from './snapshot.ts'
import { WorkerOutput } from './worker-output.ts'

export interface WorkerTask {
  readonly socketPath: string
  /** Where the worker marks what it is about to run. */
  readonly progressPath: string
  readonly snapshotPath: string
  /** What contexts load later of the web platform. */
  readonly parts: GuestScripts['parts']
  /** Proves to the service that it started this process. */
  readonly token: string
  readonly warmIsolates: number
  /** Resident memory at which the service ends this process. */
  readonly memoryBytes: number
}

/** A task that lasts as long as its connection: it owns its socket and its isolates. */
export default async function work(task: WorkerTask): Promise<void> {
  await syntaxReady
  const socket = connect(task.socketPath)
  const progress = new ProgressMarker(task.progressPath)
  const engine = new Engine({
    snapshot: loadSnapshot(task.snapshotPath),
    parts: new GuestParts(task.parts),
    warmIsolates: task.warmIsolates,
    memoryBytes: task.memoryBytes,
    progress,
    outbox: new WorkerOutput((text) => socket.write(encodeFrame(text))),
    flushed: () => socket.writableLength === 0,
  })
  const frames = new FrameReader()
  await new Promise<void>((resolve, reject) => {
    socket.on('connect', () => socket.write(encodeFrame(greeting(task.token))))
    socket.on('data', (chunk) => {
      for (const text of frames.push(chunk)) engine.receive(text)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  }).finally(() => {
    engine.close()
    progress.close()
  })
}

export function greeting(token: string): string {
  const writer = new RecordWriter(FROM_WORKER)
  writer.add('hello', [], [token])
  return writer.take()
}
