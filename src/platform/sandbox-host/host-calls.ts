import { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import type { FromWorker, HostFailure } from '#sandbox/protocol.ts'

import type { Lane } from './lane.ts'
import type { PendingCall } from './pending-call.ts'
import type { HostCall, HostCallName, SandboxEnvironment } from './sandbox.ts'

const NAMES: ReadonlySet<string> = new Set<HostCallName>([
  'fetch',
  'table',
  'bucket',
  'sendEmail',
  'operation',
])
const MESSAGE_LENGTH = 2000

/** What becomes of the calls that ask. */
export interface HostCallEvents {
  /** An answer is ready to be sent. */
  answered(lane: Lane): void
  /** The call waits for another operation of its site, from now on and no longer. */
  waits(call: PendingCall): void
  resumes(call: PendingCall): void
}

interface OpenHostCall {
  readonly abort: AbortController
  readonly name: HostCallName
  readonly call: PendingCall
}

/** What site code asks of the service: carried out above, answered through the worker that asked. */
export class HostCalls {
  readonly #environment: SandboxEnvironment
  readonly #events: HostCallEvents
  readonly #open = new Map<Lane, Map<number, OpenHostCall>>()

  constructor(environment: SandboxEnvironment, events: HostCallEvents) {
    this.#environment = environment
    this.#events = events
  }

  start(lane: Lane, record: Extract<FromWorker, { kind: 'H' }>): void {
    const [hostCall, callId] = record.numbers
    const [name, argument] = record.texts
    const call = lane.live.get(callId)
    if (!call) return
    if (!isHostCallName(name)) {
      this.#refuse(lane, hostCall, new Error(`The host has no call "${name}"`))
      return
    }
    if (name === 'operation' && call.signal?.aborted) {
      this.#refuse(lane, hostCall, nobodyWaits())
      return
    }
    const abort = new AbortController()
    const open = this.#open.get(lane) ?? new Map<number, OpenHostCall>()
    this.#open.set(lane, open.set(hostCall, { abort, name, call }))
    if (name === 'operation') this.#events.waits(call)
    this.#environment.hostCall(hostCallOf(call, { name, argument, signal: abort.signal })).then(
      (text) => this.#answer(lane, hostCall, text),
      (error: unknown) => this.#refuse(lane, hostCall, error),
    )
  }

  /** Nobody waits for the answer any more. */
  abort(lane: Lane, hostCall: number): void {
    this.#close(lane, hostCall)?.abort.abort()
  }

  forgetLane(lane: Lane): void {
    for (const hostCall of this.#open.get(lane)?.keys() ?? []) this.abort(lane, hostCall)
    this.#open.delete(lane)
  }

  #answer(lane: Lane, hostCall: number, text: string): void {
    if (!this.#close(lane, hostCall)) return
    lane.answer(hostCall, true, text)
    this.#events.answered(lane)
  }

  #refuse(lane: Lane, hostCall: number, error: unknown): void {
    this.#close(lane, hostCall)
    lane.answer(hostCall, false, JSON.stringify(failureOf(error)))
    this.#events.answered(lane)
  }

  #close(lane: Lane, hostCall: number): OpenHostCall | undefined {
    const open = this.#open.get(lane)
    const closed = open?.get(hostCall)
    open?.delete(hostCall)
    if (closed?.name === 'operation') this.#events.resumes(closed.call)
    return closed
  }
}

function hostCallOf(
  { program, definition, adHoc, operation, requestId, authority, depth, address }: PendingCall,
  asked: Pick<HostCall, 'name' | 'argument' | 'signal'>,
): HostCall {
  const { siteId, siteDomain, key: programKey } = program
  const asker = adHoc ? null : definition
  return {
    siteId,
    siteDomain,
    programKey,
    function: asker,
    authority,
    depth,
    address,
    operation,
    requestId,
    ...asked,
  }
}

/** What a call sets off ends with it, however deep it goes. */
const nobodyWaits = (): AppError =>
  new AppError('OperationInterrupted', 'Nobody waits for this call any more')

const isHostCallName = (name: string): name is HostCallName => NAMES.has(name)

function failureOf(error: unknown): HostFailure {
  if (!(error instanceof AppError)) {
    const text = error instanceof Error ? error.message : String(error)
    const message = text.slice(0, MESSAGE_LENGTH).toWellFormed()
    return { code: 'HostCallFailed', message, statusCode: 500 }
  }
  const { details, retryAfterSeconds } = error
  return {
    code: error.thrown?.code ?? error.code,
    message: error.message.slice(0, MESSAGE_LENGTH).toWellFormed(),
    statusCode: statusOf(error),
    fields: {
      ...error.fields,
      ...(details === undefined ? {} : { details }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  }
}
