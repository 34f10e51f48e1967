import { connect } from 'node:net'

import { Piscina } from 'piscina'

import { encodeFrame, FrameReader } from './frames.ts'
import { FROM_HOST, TO_HOST } from './grammars.ts'
import { prepare } from './prepare.ts'
import { type FunctionFiles, type Hello, type Prepared, type ToHost } from './protocol.ts'
import { readRecords, RecordWriter } from './records.ts'
import { snapshotFile } from './snapshot.ts'
import type { WorkerTask } from './worker.ts'

/** Share of its memory from which on a host drops what it does not need. */
const SOFT_MEMORY = 0.6

/** What the service tells a host process when it starts one. */
export interface HostOptions {
  readonly socketPath: string
  /** The marks of worker 0, 1, … are `{markPath}.0`, … */
  readonly progressPath: string
  readonly cacheDir: string
  /** The prelude's source. */
  readonly prelude: string
  readonly token: string
  readonly workers: number
  readonly warmIsolates: number
  /** Resident memory at which the service ends this process. */
  readonly memoryBytes: number
}

/** Serves until a connection to the service ends or a worker fails. */
export async function runHost(options: HostOptions): Promise<void> {
  const snapshotPath = snapshotFile(options.prelude, options.cacheDir)
  const pool = new Piscina<WorkerTask, void>({
    filename: new URL(import.meta.resolve('./worker.ts')).href,
    minThreads: options.workers,
    maxThreads: options.workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: 1,
    // The default parks a thread between tasks, and with it its sockets and timers.
    atomics: 'disabled',
    recordTiming: false,
  })
  const tasks = Array.from({ length: options.workers }, (_, index) =>
    pool.run({
      snapshotPath,
      socketPath: options.socketPath,
      progressPath: `${options.progressPath}.${index}`,
      hello: { token: options.token, role: 'worker', index },
      warmIsolates: Math.max(1, Math.floor(options.warmIsolates / options.workers)),
      softMemoryBytes: options.memoryBytes * SOFT_MEMORY,
    }),
  )
  await Promise.race([...tasks, serveControl(options)])
}

/** The host's main thread: it prepares code, so that the workers never wait for a parser. */
function serveControl({ socketPath, token }: HostOptions): Promise<void> {
  const socket = connect(socketPath)
  const frames = new FrameReader()
  const hello: Hello = { token, role: 'host', index: 0 }
  socket.on('connect', () => socket.write(encodeFrame(hostGreeting(hello))))
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk) => {
      for (const text of frames.push(chunk)) {
        for (const request of readRecords(text, TO_HOST)) {
          prepareRequest(request).then(
            (prepared) => socket.write(encodeFrame(answerOf(request, prepared))),
            reject,
          )
        }
      }
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

async function prepareRequest(request: ToHost): Promise<Prepared> {
  return prepare(JSON.parse(request.texts[0]) as FunctionFiles)
}

function hostGreeting(hello: Hello): string {
  const writer = new RecordWriter(FROM_HOST)
  writer.add('hello', [], [JSON.stringify(hello)])
  return writer.take()
}

function answerOf(request: ToHost, prepared: Prepared): string {
  const writer = new RecordWriter(FROM_HOST)
  writer.add('prepared', [request.numbers[0]], [JSON.stringify(prepared)])
  return writer.take()
}
