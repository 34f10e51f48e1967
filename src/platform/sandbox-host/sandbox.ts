import type { MemoryLease } from '#base/memory-budget.ts'
import type {
  CompiledSchema,
  JsonType,
  OperationSchemas,
  SchemaFormat,
  SchemaNode,
} from '#sandbox/protocol/compiled-schema.ts'
import type {
  GuestFailure,
  HostCallName,
  ModuleSource,
  Prepared,
  ProfiledResult,
  ProfiledStretch,
  SourceFault,
} from '#sandbox/protocol/protocol.ts'

import type { Call } from './call.ts'
import type { LayerState } from './isolation/isolation-layers.ts'
import type { SandboxActivity } from './sandbox-activity.ts'
import type { HostRole } from './slot-key.ts'

/**
 * What the service asks of the sandbox hosts. Payloads and results cross as JSON text: parsed once, inside the isolate.
 * Everything here is data, so that a host on another machine could serve it.
 */
export interface Sandbox extends AsyncDisposable {
  /** Runs one call of a program's function. Never rejects for what site code does: that is a `CallOutcome`. */
  call(call: Call, program: Program, functionId: string): Promise<CallOutcome>
  /** The same for callers that need no promise: `ended` is called once, maybe at once. */
  begin(call: Call, target: CallTarget, ended: (outcome: CallOutcome) => void): void
  /**
   * As `call`, in an isolate that samples what runs: the result is JSON of `ProfiledResult`. Give it a program of its own,
   * whose calls come one after the other, and retire that.
   */
  profile(call: Call, program: Program, functionId: string): Promise<CallOutcome>
  /** Runs ad-hoc CommonJS in a fresh context, which is thrown away afterwards. */
  compute(job: ComputeJob): Promise<ComputeOutcome>
  /** Loads code as a call would, and calls nothing. Whatever it asks of the service is refused. */
  load(job: LoadJob): Promise<CallOutcome>
  /** Makes JavaScript of TypeScript and JSX, finds the modules reachable from `entry` and checks their syntax. Sites take turns. Runs no site code. */
  prepare(siteId: string, source: FunctionSource): Promise<PreparedFunction>
  /**
   * Lets a revision's isolates finish what they run, then drops them. Call it when a newer revision is published; calls that were
   * admitted before and come later still run.
   */
  retire(program: Program): void
  /** Resolves when no call goes on after its answer, or then. */
  finishWork(deadlineMs: number): Promise<void>
  /** What `/readyz` and `GET /admin/data/usage` show. */
  status(): SandboxStatus
  /** The calls of a site's operations at this moment. */
  callsOf(siteId: string): SiteCalls
}

export interface SiteCalls {
  /** Calls that hold a place. */
  readonly running: number
  /** Calls inside isolates that wait for something: a timer, the service, a client. */
  readonly suspended: number
  /** Calls that wait for a place. */
  readonly queued: number
}

export interface CallTarget {
  readonly program: Program
  readonly functionId: string
}

/** A site's compiled functions at one revision. Immutable: the same `key` always means the same code. */
export interface Program {
  /** `{siteId}@{revision}` */
  readonly key: string
  readonly siteId: string
  readonly siteDomain: string
  readonly limits: SiteLimits
  /** By function id (the resource id). */
  readonly functions: ReadonlyMap<string, ProgramFunction>
}

export interface ProgramFunction {
  readonly functionId: string
  readonly name: string
  readonly entry: string
  /** The export that is called. `default` may also be an object with `fetch`. */
  readonly handler: string
  readonly modules: readonly Module[]
  /** What `Deno.env` and `ctx.env` show. */
  readonly env: Readonly<Record<string, string>>
  /** Wall time from the start of the run, queueing not included; 100–900 000. */
  readonly timeoutMs: number
  /** Heap of the isolate it shares with the site's other functions; 16–512. */
  readonly memoryMb: number
  /** What calls are checked against, by operation; absent where none of its operations has a schema. */
  readonly schemas?: Readonly<Record<string, OperationSchemas>>
  /** The tables and buckets it was granted, by the names that site code uses. Never sent to a host. */
  readonly stores: ReadonlyMap<string, StoreGrant>
}

/** What payloads and results are checked against, inside the isolate. */
export type SchemaCheck = CompiledSchema
export type CheckNode = SchemaNode
export type CheckedType = JsonType
export type CheckedFormat = SchemaFormat

export interface StoreGrant {
  readonly resourceId: string
  readonly type: 'ddbTable' | 's3Bucket'
  readonly access: 'read' | 'write' | 'readWrite'
}

/** Plain JavaScript or JSON; `path` is relative to the artifact and starts with no slash. */
export type Module = ModuleSource

/** Per site; every one of them has a named failure. */
export interface SiteLimits {
  /** Places: calls of one site that run at once. */
  readonly concurrency: number
  /** Calls of one site inside isolates that wait for something and hold no place, beside so many that run. */
  readonly suspendedCalls: number
  /** Calls of one site that send or receive a body as a stream. */
  readonly openStreams: number
  /** Calls of one site waiting for a place. */
  readonly queueLength: number
  /** How long a call may wait for a place. */
  readonly queueMs: number
  /** CPU time of one uninterrupted stretch of site code. */
  readonly cpuMs: number
  readonly resultBytes: number
  /** One line of console output, in UTF-16 units. */
  readonly logLineLength: number
  /** Lines that one call may print. */
  readonly logLines: number
}

export interface ComputeJob {
  readonly siteId: string
  readonly siteDomain: string
  readonly requestId: string
  /** TypeScript or JavaScript, CommonJS: `module.exports = async ({ payload }) => …`, `exports.handler = …` or `export default …`. */
  readonly code: string
  /** JSON text. */
  readonly payload: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly limits: SiteLimits
}

export interface LoadJob extends Omit<ProgramFunction, 'functionId' | 'stores'> {
  readonly siteId: string
  readonly siteDomain: string
  readonly limits: SiteLimits
}

interface CallSuccess {
  readonly ok: true
  /** JSON text; `null` when the function returned nothing. */
  readonly result: string
  readonly cpuUs: number
  /** There where the call goes on after its result: how that ends, with the cost of all of it. */
  readonly rest?: Promise<CallOutcome>
}

interface CallFailure {
  readonly ok: false
  readonly failure: SandboxFailure
  readonly cpuUs: number
}

export type CallOutcome = CallSuccess | CallFailure
export type ComputeOutcome = CallOutcome & { readonly logs: readonly LogLine[] }

/** Every way a run can end without a result. `limit` and `used` are in the unit that `what` names. */
export type SandboxFailure =
  | GuestFailure
  /** It never began. */
  | {
      readonly kind: 'limit'
      readonly what: 'queueLength' | 'queueCharacters' | 'queueMs'
      readonly limit: number
      readonly used: number
    }

export type CodeFault = SourceFault
export type CallProfile = ProfiledResult
export type CallStretch = ProfiledStretch

export interface FunctionSource {
  readonly entry: string
  /** Every file that the entry may import, by path: TypeScript, JavaScript or JSON. */
  readonly files: ReadonlyMap<string, string>
}

export type PreparedFunction = Prepared

/** One line that site code printed. `operation` and `requestId` are null where a line cannot be given to one call. */
export interface LogLine {
  readonly siteId: string
  readonly at: Date
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly operation: string | null
  readonly requestId: string | null
  readonly message: string
}

/** What the sandbox asks of the service while site code runs. The service checks each against the revision. */
export interface HostCall {
  /** The call whose code asks. */
  readonly call: Call
  readonly program: Program
  /** The function that asks, as its own revision has it; null for ad-hoc compute. */
  readonly function: Pick<ProgramFunction, 'functionId' | 'name' | 'stores'> | null
  readonly name: HostCallName
  /** JSON text. */
  readonly argument: string
  /** For an answer whose size is not bounded otherwise. */
  readonly memory: MemoryLease
  /** Aborted when the call that asked is over. */
  readonly signal: AbortSignal
}

/** What the sandbox needs from above it, given at construction. */
export interface SandboxEnvironment {
  /** Answers with JSON text; a rejection reaches site code as an Error: an `AppError` with its code, status and fields. */
  hostCall(call: HostCall): Promise<string>
  /** Called with batches; must not block. */
  log(lines: readonly LogLine[]): void
}

export interface SandboxStatus {
  readonly ready: boolean
  readonly hosts: readonly {
    readonly pid: number
    readonly role: HostRole
    /** Whether it takes calls. */
    readonly ready: boolean
    /** Hosts that were lost in its place. */
    readonly restarts: number
    readonly rssBytes: number
  }[]
  /** The walls around every process. */
  readonly walls: readonly LayerState[]
  readonly warmIsolates: number
  readonly running: number
  readonly suspended: number
  readonly queued: number
  readonly activity: SandboxActivity
}
