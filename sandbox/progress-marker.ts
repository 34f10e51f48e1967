import { Buffer } from 'node:buffer'
import { closeSync, openSync, writeSync } from 'node:fs'

/** What a worker was about to run. It outlives the process, so that the supervisor learns who brought it down. */
export type Progress =
  | { readonly kind: 'idle' }
  /** The record at `index` of batch `seq`. */
  | { readonly kind: 'section'; readonly seq: number; readonly index: number }
  /** Answers for a slot in batch `seq`, or its timers when that is 0. */
  | { readonly kind: 'slot'; readonly seq: number; readonly slot: number }

const SIZE = 16
const IDLE = 0
const SECTION = 1
const SLOT = 2

/** The writing end: a few bytes at the start of a file, in place. */
export class ProgressMarker {
  readonly #file: number
  readonly #bytes = Buffer.alloc(SIZE)

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600)
    this.idle()
  }

  /** Shows that what is marked goes on. */
  heartbeat(): void {
    this.#bytes.writeUInt32LE((this.#bytes.readUInt32LE(12) + 1) >>> 0, 12)
    writeSync(this.#file, this.#bytes, 0, SIZE, 0)
  }

  idle(): void {
    this.#write(IDLE, 0, 0)
  }

  section(seq: number, index: number): void {
    this.#write(SECTION, seq, index)
  }

  slot(slot: number, seq: number): void {
    this.#write(SLOT, seq, slot)
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(kind: number, first: number, second: number): void {
    this.#bytes.writeUInt32LE(kind, 0)
    this.#bytes.writeUInt32LE(first, 4)
    this.#bytes.writeUInt32LE(second, 8)
    writeSync(this.#file, this.#bytes, 0, SIZE, 0)
  }
}

export function readProgress(bytes: Buffer): Progress {
  if (bytes.length < SIZE) return { kind: 'idle' }
  const seq = bytes.readUInt32LE(4)
  const second = bytes.readUInt32LE(8)
  switch (bytes.readUInt32LE(0)) {
    case SECTION:
      return { kind: 'section', seq, index: second }
    case SLOT:
      return { kind: 'slot', seq, slot: second }
    default:
      return { kind: 'idle' }
  }
}
