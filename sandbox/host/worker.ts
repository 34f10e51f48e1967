import { Buffer } from 'node:buffer'
import { connect } from 'node:net'

import { syntaxReady } from '#sandbox/modules/module-syntax.ts'
import { FrameEncoder, FrameReader } from '#sandbox/protocol/frames.ts'
import { FROM_WORKER } from '#sandbox/protocol/grammars.ts'
import type { GuestScripts } from '#sandbox/protocol/part-names.ts'
import { ProgressMarker } from '#sandbox/protocol/progress-marker.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

import { Engine } from './engine.ts'
import { GuestParts } from './guest-parts.ts'
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

/** What comes from the service is read into the same memory again and again. */
const READ_BYTES = 64 * 1024

/** A task that lasts as long as its connection: it owns its socket and its isolates. */
export default async function work(task: WorkerTask): Promise<void> {
  await syntaxReady
  const reader = new FrameReader()
  const frames = new FrameEncoder()
  let receive = (_text: string): void => {}
  const socket = connect({
    path: task.socketPath,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(length, buffer) {
        for (const text of reader.push(Buffer.from(buffer.buffer, buffer.byteOffset, length)))
          receive(text)
        return true
      },
    },
  })
  const progress = new ProgressMarker(task.progressPath)
  const engine = new Engine({
    snapshot: loadSnapshot(task.snapshotPath),
    parts: new GuestParts(task.parts),
    warmIsolates: task.warmIsolates,
    memoryBytes: task.memoryBytes,
    progress,
    outbox: new WorkerOutput((text) => socket.write(frames.encode(text))),
    flushed: () => socket.writableLength === 0,
  })
  receive = (text) => engine.receive(text)
  await new Promise<void>((resolve, reject) => {
    socket.on('connect', () => socket.write(frames.encode(greeting(task.token))))
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
