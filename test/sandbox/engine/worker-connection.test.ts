import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

import { expect, test } from 'vitest'

import { pendingCall } from '#platform/sandbox-host/testing/pending-call.ts'
import { WorkerConnection } from '#platform/sandbox-host/worker-connection.ts'
import { FrameReader } from '#sandbox/protocol/frames.ts'
import { TO_WORKER } from '#sandbox/protocol/grammars.ts'
import { readRecords } from '#sandbox/protocol/records.ts'

const MEBI = 1024 * 1024

test('a frame holds answers of 4 Mi characters, or a single one that is longer', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  const joined = once(server, 'connection')
  await once(server, 'listening')
  const worker = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await joined) as [Socket]
  try {
    const place = { pid: 1, progressPath: '', place: { role: 'ordinary', index: 0 } } as const
    const events = { withdrawn() {}, acknowledged() {}, record() {}, received() {} }
    const connection = new WorkerConnection(socket, place, events)
    const asker = pendingCall(1)
    const gone: number[] = []
    for (const [at, length] of [1, 2, 2, 9, 1].entries()) {
      const onSent = () => gone.push(at)
      const text = 'x'.repeat(length * MEBI)
      connection.answer({ hostCall: at + 1, ok: true, text, asker, onSent })
    }
    const frames: number[][] = []
    const reader = new FrameReader()
    const reading = (async () => {
      for await (const chunk of worker) {
        for (const text of reader.push(chunk as Buffer)) frames.push(answersOf(text))
      }
    })()
    for (const handedOver of [2, 3, 4, 5]) {
      expect(connection.hasOutgoing).toBe(true)
      connection.send([], { nowMs: 0, risky: false })
      expect(gone).toHaveLength(handedOver)
    }
    expect(connection.hasOutgoing).toBe(false)
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
  readRecords(text, TO_WORKER)
    .filter(({ kind }) => kind === 'answer')
    .map(({ numbers }) => numbers[0])
