import type { Grammar, Shape } from './records.ts'

/** A frame longer than this ends the connection. */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024
/** The argument of one host call, in UTF-16 units: 6 MiB of bytes in base64, and what stands around them. */
export const MAX_ARGUMENT_LENGTH = 9 * 1024 * 1024

/** What the service tells a worker: one frame is one batch, which the worker acknowledges. */
export type ToWorker =
  /** Last in the frame: the batch's number. */
  | Shape<'Q', [seq: number], []>
  /** A function that later sections name by its slot: JSON of `SlotDefinition`. */
  | Shape<'L', [slot: number], [definition: string]>
  /** The slot is not called any more: finish what runs, then forget it. */
  | Shape<'D', [slot: number], []>
  /** Calls of one slot: `C` records of `ToGuest`, handed to the isolate as they are. */
  | Shape<'S', [slot: number], [section: string]>
  /** The answer to a host call: `ok` is 1 with JSON text, or 0 with JSON of `HostFailure`. */
  | Shape<'A', [hostCall: number, ok: number], [text: string]>

export type FromWorker =
  /** First on every connection: JSON of `Hello`. */
  | Shape<'W', [], [hello: string]>
  /** Every section of batch `seq` has been entered; what came of it is in this frame or will follow. */
  | Shape<'A', [seq: number], []>
  | Shape<'R', [call: number, cpuUs: number], [result: string]>
  /** JSON of `GuestFailure`. */
  | Shape<'F', [call: number, cpuUs: number], [failure: string]>
  /** Site code asks the service; `call` is the one it is counted on. */
  | Shape<'H', [hostCall: number, call: number], [name: string, argument: string]>
  /** Nobody waits for that host call any more. */
  | Shape<'X', [hostCall: number], []>
  /** A printed line; call 0 where it cannot be given to one call; `level` is an index of LEVELS. */
  | Shape<'G', [slot: number, call: number, level: number, atMs: number], [message: string]>
  /** How many isolates are warm in this worker. */
  | Shape<'M', [warmIsolates: number], []>

/** What a worker tells an isolate, in one entry. */
export type ToGuest =
  | Shape<'C', [call: number], [operation: string, requestId: string, auth: string, body: string]>
  /** The answer to a host call: `ok` is 1 with JSON text, or 0 with JSON of `HostFailure`. */
  | Shape<'A', [hostCall: number, ok: number], [text: string]>
  /** Nobody waits for that call any more. */
  | Shape<'D', [call: number], []>

/** What a worker takes from an isolate after each entry. To be read as hostile. */
export type FromGuest =
  /** First: how many records of the section were begun, and the call whose synchronous part was running, or 0. */
  | Shape<'K', [begun: number, current: number], []>
  | Shape<'R', [call: number], [result: string]>
  /** Site code threw; `statusCode` is 0 when it named none. */
  | Shape<'T', [call: number, statusCode: number], [code: string, message: string, stack: string]>
  | Shape<'I', [call: number], [message: string]>
  | Shape<'B', [call: number], [message: string]>
  /** A result of that many UTF-16 units is larger than the site may return. */
  | Shape<'Z', [call: number, length: number], []>
  | Shape<'H', [hostCall: number, call: number], [name: string, argument: string]>
  | Shape<'G', [call: number, level: number], [message: string]>
  /** The earliest timer, in milliseconds since the epoch. */
  | Shape<'N', [dueMs: number], []>
  /** The module was evaluated and its handler found. */
  | Shape<'O', [], []>
  /** The module was evaluated, but has no such handler. */
  | Shape<'U', [], [message: string]>

export const TO_WORKER: Grammar<ToWorker> = {
  Q: [1, 0],
  L: [1, 1],
  D: [1, 0],
  S: [1, 1],
  A: [2, 1],
}
export const FROM_WORKER: Grammar<FromWorker> = {
  W: [0, 1],
  A: [1, 0],
  R: [2, 1],
  F: [2, 1],
  H: [2, 2],
  X: [1, 0],
  G: [4, 1],
  M: [1, 0],
}
export const TO_GUEST: Grammar<ToGuest> = { C: [1, 4], A: [2, 1], D: [1, 0] }
export const FROM_GUEST: Grammar<FromGuest> = {
  K: [2, 0],
  R: [1, 1],
  T: [2, 3],
  I: [1, 1],
  B: [1, 1],
  Z: [2, 0],
  H: [2, 2],
  G: [2, 1],
  N: [1, 0],
  O: [0, 0],
  U: [0, 1],
}

/** What the service asks of a host's main thread, and its answer: JSON of `FunctionFiles` and of `Prepared`. */
export type ToHost = Shape<'P', [request: number], [source: string]>
export type FromHost =
  | Shape<'W', [], [hello: string]>
  | Shape<'P', [request: number], [answer: string]>
export const TO_HOST: Grammar<ToHost> = { P: [1, 1] }
export const FROM_HOST: Grammar<FromHost> = { W: [0, 1], P: [1, 1] }

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Who is at the other end of a connection. The token proves that this service started it. */
export interface Hello {
  readonly token: string
  readonly role: 'worker' | 'host'
  /** Index of the worker in its host. */
  readonly index: number
}

interface GuestLimits {
  readonly cpuMs: number
  readonly resultBytes: number
  readonly logLineLength: number
  readonly logLines: number
}

/** One function of one program, as a worker needs it. */
export interface SlotDefinition {
  /** Slots of one program share an isolate. */
  readonly programKey: string
  readonly siteId: string
  readonly siteDomain: string
  readonly name: string
  readonly entry: string
  readonly handler: string
  readonly modules: readonly ModuleSource[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Of the isolate. */
  readonly memoryMb: number
  readonly limits: GuestLimits
  /** Ad-hoc code whose module format is still to be found. */
  readonly adHoc: boolean
}

export interface ModuleSource {
  readonly path: string
  readonly format: 'esm' | 'commonjs' | 'json'
  readonly code: string
}

/** Why a host call was refused, as site code catches it. */
export interface HostFailure {
  readonly code: string
  readonly message: string
  readonly statusCode: number
  /** Whatever else the error says: `details`, `retryable`, `item`, … */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** How a run ends without a result, as far as a worker can tell. */
export type GuestFailure =
  /** Site code threw. 4xx `statusCode` with `code` is meant for the caller; everything else is only for the log. */
  | {
      readonly kind: 'thrown'
      readonly message: string
      readonly stack: string
      readonly statusCode?: number
      readonly code?: string
    }
  | {
      readonly kind: 'limit'
      readonly what: 'timeoutMs' | 'cpuMs' | 'memoryMb' | 'resultBytes'
      readonly limit: number
      readonly used: number
    }
  /** Not JSON: a cycle, a BigInt, a function. */
  | { readonly kind: 'invalidResult'; readonly message: string }
  /** The request body is not JSON, or not an object. */
  | { readonly kind: 'invalidBody'; readonly message: string }
  /** The code does not load: syntax, a missing export, an import that is refused, a throw at the top level. */
  | { readonly kind: 'invalidCode'; readonly fault: SourceFault }
  /** The host or isolate went down under a call that was not the cause. Retryable. */
  | { readonly kind: 'interrupted'; readonly message: string }

export interface SourceFault {
  readonly message: string
  readonly path?: string
  /** 1-based. */
  readonly line?: number
}

export interface FunctionFiles {
  readonly entry: string
  readonly files: readonly (readonly [path: string, code: string])[]
}

export type Prepared =
  | { readonly ok: true; readonly modules: readonly ModuleSource[] }
  | { readonly ok: false; readonly fault: SourceFault }
