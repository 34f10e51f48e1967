import { Buffer } from 'node:buffer'

import { FROM_WORKER } from '#sandbox/protocol/grammars.ts'
import type { GuestFailure } from '#sandbox/protocol/protocol.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

/** Units of text after which a frame is sent without waiting for the rest, so that none grows too long to be read. */
const FULL_FRAME = 16 * 1024 * 1024

/** Everything a worker has to tell the service, sent as one frame unless that grows too long. */
export class WorkerOutput {
  readonly #writer = new RecordWriter(FROM_WORKER)
  readonly #send: (text: string) => void

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  result(call: number, cpuUs: number, text: string): void {
    this.#writer.add('result', [call, Math.round(cpuUs)], [text])
    this.#relieve()
  }

  /** The call goes on. */
  answered(call: number, cpuUs: number, text: string): void {
    this.#writer.add('answered', [call, Math.round(cpuUs)], [text])
    this.#relieve()
  }

  used(call: number, cpuUs: number): void {
    this.#writer.add('used', [call, Math.round(cpuUs)], [])
  }

  failure(call: number, cpuUs: number, failure: GuestFailure): void {
    this.#writer.add('failure', [call, Math.round(cpuUs)], [JSON.stringify(failure)])
    this.#relieve()
  }

  hostCall(hostCall: number, call: number, [name, argument]: readonly [string, string]): void {
    this.#writer.add('hostCall', [hostCall, call], [name, argument])
    this.#relieve()
  }

  cancelHostCall(hostCall: number): void {
    this.#writer.add('cancel', [hostCall], [])
  }

  log(place: readonly [slot: number, call: number, level: number], message: string): void {
    const [slot, call, level] = place
    this.#writer.add('log', [slot, call, level, Date.now()], [message])
    this.#relieve()
  }

  acknowledge(seq: number): void {
    this.#writer.add('acknowledge', [seq], [])
  }

  withdrawn(seq: number): void {
    this.#writer.add('withdrawn', [seq], [])
  }

  crowded(siteId: string, isCrowded: boolean): void {
    this.#writer.add('crowded', [isCrowded ? 1 : 0], [siteId])
  }

  warmIsolates(isolates: number): void {
    this.#writer.add('warmIsolates', [isolates], [])
  }

  flush(): void {
    if (!this.#writer.empty) this.#send(this.#writer.take())
  }

  #relieve(): void {
    if (this.#writer.length >= FULL_FRAME) this.flush()
  }
}

/** Whether a text is longer than `limit` bytes in UTF-8, and how long it is if so. */
export function bytesOver(text: string, limit: number): number | undefined {
  if (text.length * 3 <= limit) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? bytes : undefined
}
