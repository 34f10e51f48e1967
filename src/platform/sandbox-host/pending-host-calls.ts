import { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import type { FromWorker, HostFailure } from '#sandbox/protocol.ts'

import { HostCallLimiter, type HostCallPermit } from './host-call-limiter.ts'
import type { PendingCall } from './pending-call.ts'
import type { HostCall, HostCallName, SandboxEnvironment } from './sandbox.ts'
import type { WorkerConnection } from './worker-connection.ts'

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
  answered(lane: WorkerConnection): void
  /** The call waits for another operation of its site, from now on and no longer. */
  waits(call: PendingCall): void
  resumes(call: PendingCall): void
}

interface PendingHostCall {
  readonly abort: AbortController
  readonly name: HostCallName
  readonly call: PendingCall
  /** It has been begun, and not come to its end. */
  begun: boolean
  place: HostCallPermit | undefined
}

/** What site code asks of the service: carried out above, answered through the worker that asked. */
export class PendingHostCalls {
  readonly #environment: SandboxEnvironment
  readonly #events: HostCallEvents
  readonly #gate = new HostCallLimiter()
  readonly #open = new Map<WorkerConnection, Map<number, PendingHostCall>>()

  constructor(environment: SandboxEnvironment, events: HostCallEvents) {
    this.#environment = environment
    this.#events = events
  }

  start(lane: WorkerConnection, record: Extract<FromWorker, { kind: 'H' }>): void {
    const [hostCall, callId] = record.numbers
    const [name, argument] = record.texts
    const call = lane.activeCalls.get(callId)
    if (!call) return
    if (!isHostCallName(name)) {
      this.#refuse(lane, hostCall, new Error(`The host has no call "${name}"`))
      return
    }
    if (name === 'operation' && call.signal?.aborted) {
      this.#refuse(lane, hostCall, nobodyWaits())
      return
    }
    const open = { abort: new AbortController(), name, call, begun: false, place: undefined }
    this.#opened(lane, hostCall, open)
    if (name === 'operation') this.#events.waits(call)
    this.#enter(lane, hostCall, open, argument)
  }

  /** Nobody waits for the answer any more. What has begun keeps its place to its end. */
  abort(lane: WorkerConnection, hostCall: number): void {
    const open = this.#close(lane, hostCall)
    if (!open) return
    open.abort.abort()
    if (!open.begun) open.place?.release()
  }

  forgetWorker(lane: WorkerConnection): void {
    for (const hostCall of this.#open.get(lane)?.keys() ?? []) this.abort(lane, hostCall)
    this.#open.delete(lane)
    lane.dropAnswers()
  }

  #enter(lane: WorkerConnection, hostCall: number, open: PendingHostCall, argument: string): void {
    const { name, call, abort } = open
    const { siteId } = call.program
    open.place = this.#gate.acquire({ siteId, name, argument }, (memory) => {
      open.begun = true
      const asked = hostCallOf(call, { name, argument, memory, signal: abort.signal })
      this.#environment.hostCall(asked).then(
        (text) => this.#answer(lane, hostCall, { open, ok: true, text }),
        (error: unknown) => this.#answer(lane, hostCall, { open, ...refusalOf(error) }),
      )
    })
    if (!open.place) this.#refuse(lane, hostCall, tooMuchWaits(name))
  }

  #answer(
    lane: WorkerConnection,
    hostCall: number,
    {
      open,
      ok,
      text,
    }: { readonly open: PendingHostCall; readonly ok: boolean; readonly text: string },
  ): void {
    const handedOver = (): void => open.place?.release()
    if (!this.#close(lane, hostCall)) {
      handedOver()
      return
    }
    lane.answer({ hostCall, ok, text, handedOver })
    this.#events.answered(lane)
  }

  /** Without having begun. */
  #refuse(lane: WorkerConnection, hostCall: number, error: unknown): void {
    this.#close(lane, hostCall)
    lane.answer({ hostCall, ...refusalOf(error), handedOver() {} })
    this.#events.answered(lane)
  }

  #opened(lane: WorkerConnection, hostCall: number, call: PendingHostCall): void {
    const open = this.#open.get(lane) ?? new Map<number, PendingHostCall>()
    this.#open.set(lane, open.set(hostCall, call))
  }

  #close(lane: WorkerConnection, hostCall: number): PendingHostCall | undefined {
    const open = this.#open.get(lane)
    const closed = open?.get(hostCall)
    open?.delete(hostCall)
    if (closed?.name === 'operation') this.#events.resumes(closed.call)
    return closed
  }
}

function hostCallOf(
  { program, definition, adHoc, operation, requestId, authority, depth, address }: PendingCall,
  asked: Pick<HostCall, 'name' | 'argument' | 'memory' | 'signal'>,
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

const tooMuchWaits = (name: HostCallName): AppError =>
  new AppError(
    'TooManyRequests',
    `The arguments of this site’s calls of "${name}" that wait for their turn are too long together: await some of them first`,
    { fields: { retryable: true } },
  )

const refusalOf = (error: unknown): { readonly ok: false; readonly text: string } => ({
  ok: false,
  text: JSON.stringify(failureOf(error)),
})

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
