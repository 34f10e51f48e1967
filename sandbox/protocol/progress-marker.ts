import { Buffer } from 'node:buffer'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/** What a worker was about to run. It outlives the process, so that the supervisor learns who brought it down. */
export type Progress =
  | { readonly kind: 'idle' }
  /** The record at `index` of batch `seq`. */
  | { readonly kind: 'section'; readonly seq: number; readonly index: number }
  /** Answers for a slot in batch `seq`, or its timers when that is 0. */
  | { readonly kind: 'slot'; readonly seq: number; readonly slot: number }

const SIZE = 16
/** Behind the mark, written by the service: the first batch whose calls it withdraws, and how many batches. */
export const WITHDRAWAL_OFFSET = SIZE
const WITHDRAWAL_SIZE = 8
const IDLE = 0
const SECTION = 1
const SLOT = 2
/** Beside the kind: modules are being loaded, which may take longer than other code. */
const LOADING = 0x100
const KIND = 0xff

/** The worker's end: a few bytes at the start of a file, in place. */
export class ProgressMarker {
  readonly #file: number
  readonly #bytes = Buffer.alloc(SIZE)
  readonly #withdrawal = Buffer.alloc(WITHDRAWAL_SIZE)
  /** Whether a slot was marked since the withdrawal was last read. */
  #isStale = false

  constructor(path: string) {
    this.#file = openSync(path, 'w+', 0o600)
    this.idle()
  }

  /** Shows that what is marked goes on. */
  heartbeat(): void {
    this.#bytes.writeUInt32LE((this.#bytes.readUInt32LE(12) + 1) >>> 0, 12)
    writeSync(this.#file, this.#bytes, 0, SIZE, 0)
  }

  loadBegins(): void {
    this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(0) | LOADING, 0)
    this.heartbeat()
  }

  loadEnds(): void {
    this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(0) & KIND, 0)
    this.heartbeat()
  }

  idle(): void {
    this.#write(IDLE, 0, 0)
  }

  section(seq: number, index: number): void {
    this.#write(SECTION, seq, index)
  }

  slot(slot: number, seq: number): void {
    this.#isStale = true
    this.#write(SLOT, seq, slot)
  }

  /**
   * Whether the service has withdrawn the calls of that batch. It does so only while a slot is marked, and whatever marks one
   * calls `idle` before this: so either the service sees that the slot has been left, or this sees the withdrawal.
   */
  isWithdrawn(seq: number): boolean {
    if (this.#isStale) {
      this.#isStale = false
      readSync(this.#file, this.#withdrawal, 0, WITHDRAWAL_SIZE, WITHDRAWAL_OFFSET)
    }
    const behind = seq - this.#withdrawal.readUInt32LE(0)
    return behind >= 0 && behind < this.#withdrawal.readUInt32LE(4)
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

/** What the service writes at `WITHDRAWAL_OFFSET` to withdraw the calls of these batches. */
export function encodeWithdrawal(firstSeq: number, batches: number): Buffer {
  const bytes = Buffer.alloc(WITHDRAWAL_SIZE)
  bytes.writeUInt32LE(firstSeq, 0)
  bytes.writeUInt32LE(batches, 4)
  return bytes
}

/** Whether the worker loads a function's modules. */
export const readsLoading = (bytes: Buffer): boolean =>
  bytes.length >= SIZE && (bytes.readUInt32LE(0) & LOADING) !== 0

export function readProgress(bytes: Buffer): Progress {
  if (bytes.length < SIZE) return { kind: 'idle' }
  const seq = bytes.readUInt32LE(4)
  const second = bytes.readUInt32LE(8)
  switch (bytes.readUInt32LE(0) & KIND) {
    case SECTION:
      return { kind: 'section', seq, index: second }
    case SLOT:
      return { kind: 'slot', seq, slot: second }
    default:
      return { kind: 'idle' }
  }
}
