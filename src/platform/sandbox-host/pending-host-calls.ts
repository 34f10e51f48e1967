import { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import {
  type FromWorker,
  HOST_CALL_NAMES,
  type HostCallName,
  type HostFailure,
} from '#sandbox/protocol/protocol.ts'

import { HostCallLimiter, type HostCallPermit } from './host-call-limiter.ts'
import { rememberRefusal } from './passing-refusals.ts'
import type { PendingCall } from './pending-call.ts'
import type { SandboxEnvironment } from './sandbox.ts'
import { partCostMs, type StreamPacer } from './stream-pacer.ts'
import type { WorkerConnection } from './worker-connection.ts'

const NAMES: ReadonlySet<string> = new Set(HOST_CALL_NAMES)
const MESSAGE_LENGTH = 2000

/** What becomes of the calls that ask. */
export interface HostCallEvents {
  /** An answer is ready to be sent. */
  answered(worker: WorkerConnection): void
  /** The call waits for another operation of its site, from now on and no longer. */
  waits(call: PendingCall): void
  resumes(call: PendingCall): void
}

class PendingHostCall {
  readonly name: HostCallName
  readonly asker: PendingCall
  /** It has been begun, and not come to its end. */
  begun = false
  permit: HostCallPermit | undefined
  #controller: AbortController | undefined
  #isAborted = false

  constructor(name: HostCallName, asker: PendingCall) {
    this.name = name
    this.asker = asker
  }

  /** Made when it is asked for: most host calls cannot be aborted, and a controller costs a fifth of what they do. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }
}

/** What site code asks of the service: carried out above, answered through the worker that asked. */
export class PendingHostCalls {
  readonly #environment: SandboxEnvironment
  readonly #pacer: Pick<StreamPacer, 'pace'>
  readonly #events: HostCallEvents
  readonly #limiter = new HostCallLimiter()
  readonly #open = new Map<WorkerConnection, Map<number, PendingHostCall>>()

  constructor(
    environment: SandboxEnvironment,
    pacer: Pick<StreamPacer, 'pace'>,
    events: HostCallEvents,
  ) {
    this.#environment = environment
    this.#pacer = pacer
    this.#events = events
  }

  start(worker: WorkerConnection, record: Extract<FromWorker, { kind: 'hostCall' }>): void {
    const [hostCall, callId] = record.numbers
    const [name, argument] = record.texts
    const asker = worker.activeCalls.get(callId)
    if (!asker) return
    if (!isHostCallName(name)) {
      this.#refuse(worker, { hostCall, asker }, new Error(`The host has no call "${name}"`))
      return
    }
    if (name === 'operation' && asker.call.signal?.aborted) {
      this.#refuse(worker, { hostCall, asker }, nobodyWaits())
      return
    }
    if (asker.purpose === 'load') {
      this.#refuse(worker, { hostCall, asker }, notWhileLoading(name))
      return
    }
    const open = new PendingHostCall(name, asker)
    this.#opened(worker, hostCall, open)
    if (name === 'operation') this.#events.waits(asker)
    this.#enter(worker, hostCall, open, argument)
  }

  /** No caller waits for the answer any more. What has begun keeps its place to its end. */
  abort(worker: WorkerConnection, hostCall: number): void {
    const open = this.#close(worker, hostCall)
    if (!open) return
    open.abort()
    if (!open.begun) open.permit?.release()
  }

  forgetWorker(worker: WorkerConnection): void {
    for (const hostCall of this.#open.get(worker)?.keys() ?? []) this.abort(worker, hostCall)
    this.#open.delete(worker)
    worker.dropAnswers()
  }

  #enter(
    worker: WorkerConnection,
    hostCall: number,
    open: PendingHostCall,
    argument: string,
  ): void {
    const { name, asker } = open
    const { call, program } = asker
    const { siteId } = program
    open.permit = this.#limiter.acquire({ siteId, name, argument }, (memory) => {
      open.begun = true
      const asked = {
        call,
        program,
        function: asker.purpose === 'compute' ? null : asker.definition,
        name,
        argument,
        memory,
        get signal() {
          return open.signal
        },
      }
      this.#environment.hostCall(asked).then(
        (text) => this.#answerInTurn(worker, hostCall, { open, ok: true, text }),
        (error: unknown) => {
          rememberRefusal(asker, error)
          this.#answer(worker, hostCall, { open, ...refusalOf(error) })
        },
      )
    })
    if (open.permit) return
    const error = tooMuchWaits(name)
    rememberRefusal(asker, error)
    this.#refuse(worker, { hostCall, asker }, error)
  }

  /** The answer about a part of a stream sets off the next part. */
  #answerInTurn(
    worker: WorkerConnection,
    hostCall: number,
    answer: { readonly open: PendingHostCall; readonly ok: true; readonly text: string },
  ): void {
    const { asker, name } = answer.open
    const pass = (): void => this.#answer(worker, hostCall, answer)
    if (name !== 'http') pass()
    else
      this.#pacer.pace(asker.queueKey, {
        costMs: asker.partMs + partCostMs(answer.text.length),
        pass,
      })
  }

  #answer(
    worker: WorkerConnection,
    hostCall: number,
    {
      open,
      ok,
      text,
    }: { readonly open: PendingHostCall; readonly ok: boolean; readonly text: string },
  ): void {
    const onSent = (): void => open.permit?.release()
    if (!this.#close(worker, hostCall)) {
      onSent()
      return
    }
    worker.answer({ hostCall, ok, text, asker: open.asker, onSent })
    this.#events.answered(worker)
  }

  /** Answers a host call that was not begun. */
  #refuse(
    worker: WorkerConnection,
    { hostCall, asker }: { readonly hostCall: number; readonly asker: PendingCall },
    error: unknown,
  ): void {
    this.#close(worker, hostCall)
    worker.answer({ hostCall, ...refusalOf(error), asker, onSent() {} })
    this.#events.answered(worker)
  }

  #opened(worker: WorkerConnection, hostCall: number, call: PendingHostCall): void {
    const open = this.#open.get(worker) ?? new Map<number, PendingHostCall>()
    this.#open.set(worker, open.set(hostCall, call))
  }

  #close(worker: WorkerConnection, hostCall: number): PendingHostCall | undefined {
    const open = this.#open.get(worker)
    const closed = open?.get(hostCall)
    open?.delete(hostCall)
    if (closed?.name === 'operation') this.#events.resumes(closed.asker)
    return closed
  }
}

/** Whether code loads may not depend on others, nor change anything. */
const notWhileLoading = (name: HostCallName): AppError =>
  new AppError(
    'Forbidden',
    `"${name}" cannot be used while the code is loaded to be checked: use it in the handler`,
  )

/** What a call sets off ends with it, however deep it goes. */
const nobodyWaits = (): AppError =>
  new AppError('OperationInterrupted', 'No caller waits for this call any more')

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
