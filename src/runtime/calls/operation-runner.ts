import { AppError } from '#base/app-error.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { CallOutcome, Sandbox, SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import type { RuntimeLogs } from '#runtime/logs/runtime-logs.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import { PRESET_CHECK } from '#runtime/published/published-site.ts'
import type { RuntimeUsage } from '#runtime/usage/runtime-usage.ts'
import type { WatchedCode } from '#sites/deployments/live-activation.ts'

import type { AdmittedCall } from './admission.ts'
import type { CallActivity } from './call-activity.ts'
import {
  invalidFunction,
  logMessage,
  operationError,
  redactedFailure,
  unsendableResponse,
} from './failures.ts'
import type { OperationExchange } from './http/operation-exchange.ts'
import { UnsendableResponse } from './http/response-head.ts'
import type { PresetRunner } from './presets/preset-runner.ts'
import { type Reply, forward } from './reply.ts'
import { payloadOf } from './request-body.ts'

/** The finished envelope, or the error for each of those who waited for it. */
export type OperationOutcome = { readonly body: string } | CallFailure
interface CallFailure {
  readonly error: ErrorForRequest
}
export type ErrorForRequest = (requestId: string) => AppError

/** Records how calls of deployed code ended; outcomes that say nothing about the code are left out. */
export interface CallOutcomes {
  record(siteId: string, code: WatchedCode | null, outcome: 'answered' | 'failed'): void
}

/** Runs an operation once, counts it and logs what went wrong. */
export class OperationRunner {
  readonly #deps

  constructor(deps: {
    readonly sandbox: Pick<Sandbox, 'begin'>
    readonly runtimeLogs: RuntimeLogs
    readonly runtimeUsage: RuntimeUsage
    readonly callActivity: CallActivity
    readonly deploymentHealth: CallOutcomes
    readonly presets: Pick<PresetRunner, 'perform'>
    /** Takes the site's secrets out of what its code threw. */
    redact(siteId: string, text: string): string
  }) {
    this.#deps = deps
  }

  run(admitted: AdmittedCall): Promise<OperationOutcome> {
    return new Promise((answered, failed) => this.begin(admitted, { answered, failed }))
  }

  begin(admitted: AdmittedCall, reply: Reply<OperationOutcome>): void {
    const { target } = admitted.operation
    switch (target.kind) {
      case 'preset':
        if (admitted.operation.input) this.#checkedPreset(admitted, target.binding, reply)
        else forward(this.#preset(admitted, target.binding), reply)
        break
      case 'fault':
        reply.answered({ error: this.#faulty(admitted, target) })
        break
      case 'function':
        this.#inSandbox(admitted, target.functionId, reply)
    }
  }

  /** Runs an operation that answers HTTP, and tells its exchange how it ended. */
  exchange(admitted: AdmittedCall, exchange: OperationExchange): void {
    const { requestId } = admitted.call
    this.#exchange(admitted, exchange, ({ error }) => exchange.fail(error(requestId)))
  }

  #exchange(
    admitted: AdmittedCall,
    exchange: OperationExchange,
    failed: (failure: CallFailure) => void,
  ): void {
    const { call, site, operation } = admitted
    const { target } = operation
    if (target.kind === 'preset') throw new Error('A preset answers no HTTP')
    if (target.kind === 'fault') return failed({ error: this.#faulty(admitted, target) })
    const startedAt = performance.now()
    const { functionId } = target
    this.#deps.sandbox.begin(call, { program: site.program, functionId }, (outcome) => {
      const ended = this.#concluded(admitted, startedAt, outcome)
      if ('error' in ended) return failed(ended)
      try {
        exchange.end(ended.result)
        this.#deps.callActivity.ran(operation, 'answered', performance.now() - startedAt)
      } catch (error) {
        if (!(error instanceof UnsendableResponse)) return exchange.fail(error)
        failed(this.#unsendable(admitted, error, startedAt))
      }
    })
  }

  #unsendable(
    { call, site, operation }: AdmittedCall,
    { message }: UnsendableResponse,
    startedAt: number,
  ): CallFailure {
    const error = unsendableResponse(call.operation)
    this.#deps.callActivity.ran(operation, error, performance.now() - startedAt)
    this.#deps.deploymentHealth.record(site.siteId, site.watchedCode, 'failed')
    this.#deps.runtimeLogs.failure({
      ...about(call),
      level: 'error',
      code: error.code,
      message: `The response was not sent: ${this.#deps.redact(site.siteId, message)}`,
    })
    return { error: () => error }
  }

  #inSandbox(admitted: AdmittedCall, functionId: string, reply: Reply<OperationOutcome>): void {
    const { call, site } = admitted
    const startedAt = performance.now()
    this.#deps.sandbox.begin(call, { program: site.program, functionId }, (outcome) => {
      try {
        reply.answered(this.#ended(admitted, startedAt, outcome))
      } catch (error) {
        reply.failed(error)
      }
    })
  }

  #ended(admitted: AdmittedCall, startedAt: number, outcome: CallOutcome): OperationOutcome {
    const ended = this.#concluded(admitted, startedAt, outcome)
    if ('error' in ended) return ended
    this.#deps.callActivity.ran(admitted.operation, 'answered', performance.now() - startedAt)
    return { body: `{"ok":true,"data":${ended.result}}` }
  }

  #concluded(
    admitted: AdmittedCall,
    startedAt: number,
    outcome: CallOutcome,
  ): { readonly result: string } | CallFailure {
    const { call, site, operation } = admitted
    const wallMs = performance.now() - startedAt
    this.#deps.runtimeUsage.record(site.siteId, operation.name, outcome.ok ? 'call' : 'error', {
      cpuUs: outcome.cpuUs,
      wallUs: Math.round(wallMs * 1000),
    })
    if (!outcome.ok) {
      const error = operationError(outcome.failure, call)
      this.#deps.callActivity.ran(operation, error, wallMs)
      return { error: this.#failed(admitted, outcome.failure) }
    }
    this.#deps.deploymentHealth.record(site.siteId, site.watchedCode, 'answered')
    if (outcome.rest) void this.#followRest(admitted, outcome, outcome.rest)
    return { result: outcome.result }
  }

  /** What a call does after its answer is charged to the site, and its error logged: no client sees it. */
  async #followRest(
    { call, site, operation }: AdmittedCall,
    { cpuUs }: { readonly cpuUs: number },
    rest: Promise<CallOutcome>,
  ): Promise<void> {
    const end = await rest
    this.#deps.runtimeUsage.recordWork(site.siteId, operation.name, Math.max(0, end.cpuUs - cpuUs))
    if (end.ok) return
    const failure = redactedFailure(end.failure, (text) => this.#deps.redact(site.siteId, text))
    this.#deps.runtimeLogs.failure({
      ...about(call),
      level: failure.kind === 'interrupted' ? 'warn' : 'error',
      code: operationError(failure, call).code,
      message: `After its answer, in waitUntil: ${logMessage(failure)}`,
    })
  }

  /** As `#preset`, once its payload has been found to be as the schema says: inside an isolate of the site, on its time. */
  #checkedPreset(
    admitted: AdmittedCall,
    binding: PresetBinding,
    reply: Reply<OperationOutcome>,
  ): void {
    const { call, site } = admitted
    const startedAt = performance.now()
    const target = { program: site.program, functionId: PRESET_CHECK }
    // What the check comes to says nothing about deployed code.
    const unwatched = { ...admitted, site: { ...site, watchedCode: null } }
    this.#deps.sandbox.begin(call, target, (outcome) => {
      if (outcome.ok) {
        this.#deps.runtimeUsage.recordWork(site.siteId, call.operation, outcome.cpuUs)
        forward(this.#preset(admitted, binding), reply)
        return
      }
      try {
        reply.answered(this.#ended(unwatched, startedAt, outcome))
      } catch (error) {
        reply.failed(error)
      }
    })
  }

  async #preset(admitted: AdmittedCall, binding: PresetBinding): Promise<OperationOutcome> {
    const { call, site, operation } = admitted
    const startedAt = performance.now()
    const count = (outcome: 'answered' | AppError) => {
      const wallMs = performance.now() - startedAt
      const what = outcome === 'answered' ? 'call' : 'error'
      const cost = { cpuUs: 0, wallUs: Math.round(wallMs * 1000) }
      this.#deps.runtimeUsage.record(site.siteId, operation.name, what, cost)
      this.#deps.callActivity.ran(operation, outcome, wallMs)
    }
    try {
      const data = JSON.stringify(await this.#deps.presets.perform(admitted, binding))
      count('answered')
      return { body: `{"ok":true,"data":${data}}` }
    } catch (error) {
      count(error instanceof AppError ? error : unforeseen(error))
      if (!(error instanceof AppError)) throw error
      const { code, message } = error
      this.#deps.runtimeLogs.failure({
        ...about(call),
        level: LEVELS[code] ?? 'info',
        code,
        message,
      })
      return { error: () => error }
    }
  }

  #faulty(
    { call, site, operation }: AdmittedCall,
    fault: { readonly functionName: string; readonly message: string },
  ): ErrorForRequest {
    const { name } = operation
    this.#deps.callActivity.ran(operation, invalidFunction(name), 0)
    this.#deps.runtimeUsage.record(site.siteId, name, 'error')
    this.#deps.deploymentHealth.record(site.siteId, site.watchedCode, 'failed')
    this.#deps.runtimeLogs.failure({
      ...about(call),
      level: 'error',
      code: 'InvalidFunction',
      message: `Function "${fault.functionName}" does not load: ${fault.message}`,
    })
    return () => invalidFunction(name)
  }

  #failed({ call, site }: AdmittedCall, raw: SandboxFailure): ErrorForRequest {
    // Says which: not JSON, or JSON but no object.
    if (raw.kind === 'invalidBody') payloadOf(call.body)
    const failure = redactedFailure(raw, (text) => this.#deps.redact(call.site.siteId, text))
    const error = operationError(failure, call)
    const told = OUTCOMES[error.code]
    if (told !== undefined) {
      this.#deps.deploymentHealth.record(site.siteId, site.watchedCode, told)
    }
    if (failure.kind !== 'invalidBody') {
      this.#deps.runtimeLogs.failure({
        ...about(call),
        level: LEVELS[error.code] ?? 'error',
        code: error.thrown?.code ?? error.code,
        message: logMessage(failure),
      })
    }
    return (requestId) => operationError(failure, { operation: call.operation, requestId })
  }
}

const unforeseen = (cause: unknown): AppError =>
  new AppError('InternalError', 'Something went wrong on our side', { cause })

/** Errors that say something about the function. */
const OUTCOMES: Partial<Record<AppError['code'], 'answered' | 'failed'>> = {
  OperationRejected: 'answered',
  OperationFailed: 'failed',
  InvalidOperationResult: 'failed',
  OperationTimeout: 'failed',
  MemoryLimitExceeded: 'failed',
  InvalidFunction: 'failed',
}

/** Failures that are no fault of the function. */
const LEVELS: Partial<Record<AppError['code'], 'info' | 'warn'>> = {
  OperationRejected: 'info',
  InvalidPayload: 'info',
  OperationOverloaded: 'warn',
  OperationInterrupted: 'warn',
  ServiceUnavailable: 'warn',
}

const about = ({ site, operation, requestId }: Call) => ({
  siteId: site.siteId,
  operation,
  requestId,
})
