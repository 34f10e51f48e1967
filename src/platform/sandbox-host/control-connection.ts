import type { Socket } from 'node:net'

import { encodeFrame } from '#sandbox/frames.ts'
import { FROM_HOST, TO_HOST } from '#sandbox/grammars.ts'
import type { Prepared } from '#sandbox/protocol.ts'
import { readRecords, RecordWriter } from '#sandbox/records.ts'

interface Waiter {
  readonly resolve: (prepared: Prepared) => void
  readonly reject: (error: Error) => void
}

/** The connection to a host's main thread, which prepares code. */
export class ControlConnection {
  readonly #socket: Socket
  readonly #waiters = new Map<number, Waiter>()
  #lastRequest = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** `source` is JSON of `FunctionFiles`. Rejects when the host goes down meanwhile. */
  prepare(source: string): Promise<Prepared> {
    this.#lastRequest += 1
    const request = this.#lastRequest
    const writer = new RecordWriter(TO_HOST)
    writer.add('prepare', [request], [source])
    this.#socket.write(encodeFrame(writer.take()))
    return new Promise((resolve, reject) => {
      this.#waiters.set(request, { resolve, reject })
    })
  }

  receive(text: string): void {
    for (const record of readRecords(text, FROM_HOST)) {
      if (record.kind !== 'prepared') continue
      const [request] = record.numbers
      this.#waiters.get(request)?.resolve(JSON.parse(record.texts[0]) as Prepared)
      this.#waiters.delete(request)
    }
  }

  close(): void {
    this.#socket.destroy()
    for (const { reject } of this.#waiters.values()) reject(new Error('The sandbox host went down'))
    this.#waiters.clear()
  }
}
