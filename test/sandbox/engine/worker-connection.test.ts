import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

import { expect, test } from 'vitest'

import { WorkerConnection } from '#platform/sandbox-host/worker-connection.ts'
import { FrameReader } from '#sandbox/frames.ts'
import { TO_WORKER, type ToWorker } from '#sandbox/protocol.ts'
import { readRecords } from '#sandbox/records.ts'

const MEBI = 1024 * 1024

test('a frame holds answers of 4 Mi characters, or a single one that is longer', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  const joined = once(server, 'connection')
  await once(server, 'listening')
  const worker = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await joined) as [Socket]
  try {
    const place = { pid: 1, markPath: '', index: 0 }
    const events = { acknowledged() {}, record() {}, received() {} }
    const lane = new WorkerConnection(socket, place, events)
    const gone: number[] = []
    for (const [at, length] of [1, 2, 2, 9, 1].entries()) {
      const handedOver = () => gone.push(at)
      lane.answer({ hostCall: at + 1, ok: true, text: 'x'.repeat(length * MEBI), handedOver })
    }
    const frames: number[][] = []
    const reader = new FrameReader()
    const reading = (async () => {
      for await (const chunk of worker) {
        for (const text of reader.push(chunk as Buffer)) frames.push(answersOf(text))
      }
    })()
    for (const handedOver of [2, 3, 4, 5]) {
      expect(lane.hasOutgoing).toBe(true)
      lane.send([], { nowMs: 0, risky: false })
      expect(gone).toHaveLength(handedOver)
    }
    expect(lane.hasOutgoing).toBe(false)
    socket.end()
    await reading
    expect(frames).toEqual([[1, 2], [3], [4], [5]])
  } finally {
    worker.destroy()
    socket.destroy()
    server.close()
  }
})

const answersOf = (text: string): number[] =>
  readRecords<ToWorker>(text, TO_WORKER)
    .filter(({ kind }) => kind === 'A')
    .map(({ numbers }) => numbers[0])
