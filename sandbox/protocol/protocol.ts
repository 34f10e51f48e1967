import type { OperationSchemas, SchemaFault } from './compiled-schema.ts'
import type { Shape } from './records.ts'

/** A frame longer than this ends the connection. */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024
/** The argument of one host call, in UTF-16 units: 6 MiB of bytes in base64, and the JSON around them. */
export const MAX_ARGUMENT_LENGTH = 9 * 1024 * 1024

/** What the service tells a worker: one frame is one batch, which the worker acknowledges. */
export type ToWorker =
  /** Last in the frame: the batch's number. */
  | Shape<'batch', [seq: number], []>
  /** A function that later sections name by its slot: JSON of `SlotDefinition`. */
  | Shape<'defineSlot', [slot: number], [definition: string]>
  /** The slot is not called any more: finish what runs, then forget it. */
  | Shape<'forgetSlot', [slot: number], []>
  /** Calls of one slot: `call` records of `ToGuest`, handed to the isolate as they are. */
  | Shape<'section', [slot: number], [section: string]>
  /** The answer to a host call: `ok` is 1 with JSON text, or 0 with JSON of `HostFailure`. */
  | Shape<'answer', [hostCall: number, ok: number], [text: string]>
  /** The client of that call has disconnected: the call ends as soon as it has no host call in flight. */
  | Shape<'abort', [call: number], []>
  /** That call ends now, whatever it does. */
  | Shape<'end', [call: number], []>

export type FromWorker =
  /** First on every connection: proves that this service started the process at the other end. */
  | Shape<'hello', [], [token: string]>
  /** Every section of batch `seq` has been entered; its results are in this frame or will follow. */
  | Shape<'acknowledge', [seq: number], []>
  /** The calls of batch `seq` were withdrawn before any was begun; everything else in it is done. */
  | Shape<'withdrawn', [seq: number], []>
  | Shape<'result', [call: number, cpuUs: number], [result: string]>
  /** Its result, while the work that it gave to `waitUntil` goes on: `result` or `failure` follows, and says how that ended. */
  | Shape<'answered', [call: number, cpuUs: number], [result: string]>
  /** So much processor time the call has taken so far; it goes on. */
  | Shape<'used', [call: number, cpuUs: number], []>
  /** JSON of `GuestFailure`. */
  | Shape<'failure', [call: number, cpuUs: number], [failure: string]>
  /** Site code asks the service; `call` is the one it is counted on. */
  | Shape<'hostCall', [hostCall: number, call: number], [name: string, argument: string]>
  /** That host call has no waiting caller any more. */
  | Shape<'cancel', [hostCall: number], []>
  /** A printed line; call 0 where it cannot be given to one call; `level` is an index of LEVELS. */
  | Shape<'log', [slot: number, call: number, level: number, atMs: number], [message: string]>
  /** Whether open calls of the site fill as many isolates of this worker as they may. */
  | Shape<'crowded', [isCrowded: number], [siteId: string]>
  /** How many isolates are warm in this worker. */
  | Shape<'warmIsolates', [warmIsolates: number], []>

/** What a worker tells an isolate, in one entry. */
export type ToGuest =
  /** `http` is 1 where the body is a `ServedRequest` for `fetch` and the result its response; otherwise both are JSON. */
  | Shape<
      'call',
      [call: number, http: number],
      [operation: string, requestId: string, auth: string, body: string]
    >
  /** The answer to a host call: `ok` is 1 with JSON text, or 0 with JSON of `HostFailure`. */
  | Shape<'answer', [hostCall: number, ok: number], [text: string]>
  /** That call has no waiting caller any more. */
  | Shape<'cancel', [call: number], []>
  /** The client of that call has gone: what it streams is not read. It says `left` once no host call is in flight. */
  | Shape<'abort', [call: number], []>

/** What a worker takes from an isolate after each entry. To be read as hostile. */
export type FromGuest =
  /** First: how many records of the section were begun, and the call whose synchronous part was running, or 0. */
  | Shape<'state', [begun: number, current: number], []>
  | Shape<'result', [call: number], [result: string]>
  /** As `answered` of `FromWorker`. */
  | Shape<'answered', [call: number], [result: string]>
  /** Site code threw; `statusCode` is 0 when it named none. */
  | Shape<
      'thrown',
      [call: number, statusCode: number],
      [code: string, message: string, stack: string]
    >
  | Shape<'invalidResult', [call: number], [message: string]>
  | Shape<'invalidBody', [call: number], [message: string]>
  /** The payload, or with `ofResult` 1 the result, is not as its schema says: JSON of `SchemaFault[]`. */
  | Shape<'mismatch', [call: number, ofResult: number], [faults: string]>
  /** A result of that many UTF-16 units is larger than the site may return. */
  | Shape<'oversized', [call: number, length: number], []>
  | Shape<'hostCall', [hostCall: number, call: number], [name: string, argument: string]>
  /** The client of that call has gone, and nothing that it has started is running: it is over. */
  | Shape<'left', [call: number], []>
  | Shape<'log', [call: number, level: number], [message: string]>
  /** The earliest timer, in milliseconds since the epoch. */
  | Shape<'nextTimer', [dueMs: number], []>
  /** The module was evaluated and its handler found. */
  | Shape<'loaded', [], []>
  /** The module was evaluated, but has no such handler. */
  | Shape<'unusable', [], []>

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

interface GuestLimits {
  readonly cpuMs: number
  readonly resultBytes: number
  readonly logLineLength: number
  readonly logLines: number
}

/** What site code may ask of the service. */
export const HOST_CALL_NAMES = [
  'fetch',
  'table',
  'bucket',
  'sendEmail',
  // A part of a large file of mail: its mailbox, a line break, and base64.
  'mailPart',
  'operation',
  'http',
] as const
export type HostCallName = (typeof HOST_CALL_NAMES)[number]
/** What the worker itself answers, in threads of its own. */
export type LocalCallName = 'crypto'

/** The request of a call that answers HTTP: JSON of this, a line break, and what is there of the body. */
export interface ServedRequest {
  readonly method: string
  /** Absolute, on the site's own origin. */
  readonly url: string
  /** The path of the operation; what the visitor asked for may lie below. */
  readonly basePath: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: ServedBody | 'streamed'
}

/**
 * Its result is empty where the response was streamed by `http` host calls; otherwise JSON of `status`, `statusText`, `headers`
 * and `body`, a line break, and the body. A body is absent there, the text that it is in UTF-8, or one character for each byte.
 */
export type ServedBody = 'none' | 'text' | 'bytes'

/** What an `http` host call asks, by the first letter of its argument. It is answered when there is room for more. */
export const HTTP_HEAD = 'H'
/** The rest are bytes of the response, one character each. */
export const HTTP_CHUNK = 'B'
/** Answered with `HTTP_CHUNK` and the next bytes of the request, or with `HTTP_END`. */
export const HTTP_READ = 'R'
export const HTTP_END = 'E'
/** Limits one chunk, either way. */
export const HTTP_CHUNK_BYTES = 64 * 1024

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
  /** Memory limit of the isolate. */
  readonly memoryMb: number
  readonly limits: GuestLimits
  /** By operation; absent where it has none. */
  readonly schemas?: Readonly<Record<string, OperationSchemas>>
  readonly purpose: CallPurpose
}

/**
 * What a call is for: an operation; ad-hoc code, whose module format is still to be found; only to see that the code
 * loads, which is over when its handler is found; or an operation that is profiled, whose result is JSON of `ProfiledResult`.
 */
export type CallPurpose = 'operation' | 'compute' | 'load' | 'profile'

/** What an operation returned, and where its time went. */
export interface ProfiledResult {
  readonly result: unknown
  readonly stretches: readonly ProfiledStretch[]
}

/** One uninterrupted stretch of a call, as V8 sampled it. Times are in microseconds; lines and columns from 1. */
export interface ProfiledStretch {
  readonly startTime: number
  readonly endTime: number
  /** Ids of nodes. */
  readonly samples: readonly number[]
  /** When each sample was taken, from the start. */
  readonly offsets: readonly number[]
  readonly nodes: readonly ProfiledNode[]
}

export interface ProfiledNode {
  readonly id: number
  readonly children: readonly number[]
  readonly functionName: string
  readonly url: string
  readonly line: number
  readonly column: number
}

/** Processor time that loading a function may take: compiling, linking and evaluating its modules. */
export const LOAD_CPU_MS = 3000

/** The same for one whose stretches may compute longer than that. */
export const loadCpuMs = ({ limits }: Pick<SlotDefinition, 'limits'>): number =>
  Math.max(LOAD_CPU_MS, limits.cpuMs)

export interface ModuleSource {
  readonly path: string
  readonly format: 'esm' | 'commonjs' | 'json'
  readonly code: string
  /** `mappings` of ECMA-426: where the code's parts are in the file. Only where they are not at their own places. */
  readonly map?: string
  /** Where imports lead that do not name their file: by specifier, the path of the module. */
  readonly imports?: Readonly<Record<string, string>>
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
      /** It is a refusal of the service's own that passes, which the code did not catch. The service adds it. */
      readonly retryAfterSeconds?: number
    }
  | {
      readonly kind: 'limit'
      readonly what: 'timeoutMs' | 'cpuMs' | 'memoryMb' | 'resultBytes'
      readonly limit: number
      readonly used: number
      /** The site's code that was running; of what waited, that which asked for what it waited for. */
      readonly at?: StackPlace
      /** Lines for the site's log: the frames of that, and what it waited for. */
      readonly doing?: string
    }
  /** Not JSON: a cycle, a BigInt, a function. */
  | { readonly kind: 'invalidResult'; readonly message: string }
  /** The request body is not JSON, or not an object. */
  | { readonly kind: 'invalidBody'; readonly message: string }
  /** The payload is not as the operation's schema says, and nothing of the site has run; or its result is not. */
  | {
      readonly kind: 'mismatch'
      readonly of: 'payload' | 'result'
      readonly faults: readonly SchemaFault[]
    }
  /** The code does not load: syntax, a missing export, an import that is refused, a throw at the top level. */
  | { readonly kind: 'invalidCode'; readonly fault: SourceFault }
  /** The host or isolate went down under a call that was not the cause. Retryable. */
  | { readonly kind: 'interrupted'; readonly message: string }

/** A place in a file of an artifact, both from 1. */
export interface StackPlace {
  readonly path: string
  readonly line: number
  readonly column: number
}

export interface SourceFault {
  readonly message: string
  readonly path?: string
  /** 1-based. */
  readonly line?: number
  /** 1-based, in UTF-16 units; only where there is a line. */
  readonly column?: number
  /** V8 could not read it, so nothing of it has run. */
  readonly isSyntax?: true
}

export interface FunctionFiles {
  readonly entry: string
  readonly files: readonly (readonly [path: string, code: string])[]
}

export type Prepared =
  | { readonly ok: true; readonly modules: readonly ModuleSource[] }
  | { readonly ok: false; readonly fault: SourceFault }

/** What the process that prepares code writes: that it is ready, then one answer for each source. */
export type PreparerAnswer =
  | { readonly ready: true }
  | Prepared
  /** The parser of TypeScript failed and stays broken: the process is of no more use. */
  | { readonly broken: SourceFault }
