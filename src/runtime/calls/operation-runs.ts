import { AppError } from '#base/app-error.ts'
import type { Sandbox, SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import type { RuntimeLogs } from '#runtime/logs/service.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import type { RuntimeUsage } from '#runtime/usage/service.ts'

import type { AdmittedCall, FlightError, RunOutcome } from './admitted-call.ts'
import { failureOf, invalidFunction, logWords } from './failures.ts'
import type { PresetRuns } from './presets/preset-runs.ts'
import { redactedFailure } from './redacted-failure.ts'
import { payloadOf } from './request-body.ts'

/** Runs an operation once, counts it and logs what went wrong. */
export class OperationRuns {
  readonly #sandbox: Pick<Sandbox, 'call'>
  readonly #logs: RuntimeLogs
  readonly #usage: RuntimeUsage
  readonly #presets: Pick<PresetRuns, 'perform'>
  readonly #redact: (siteId: string, text: string) => string

  constructor(deps: {
    sandbox: Pick<Sandbox, 'call'>
    runtimeLogs: RuntimeLogs
    runtimeUsage: RuntimeUsage
    presets: Pick<PresetRuns, 'perform'>
    /** Takes the site's secrets out of what its code threw. */
    redact(siteId: string, text: string): string
  }) {
    this.#sandbox = deps.sandbox
    this.#logs = deps.runtimeLogs
    this.#usage = deps.runtimeUsage
    this.#presets = deps.presets
    this.#redact = (siteId, text) => deps.redact(siteId, text)
  }

  async run(call: AdmittedCall): Promise<RunOutcome> {
    const { target } = call.operation
    switch (target.kind) {
      case 'preset':
        return this.#preset(call, target.binding)
      case 'fault':
        return this.#faulty(call, target)
      case 'function':
        return this.#inSandbox(call, target.functionId)
    }
  }

  async #inSandbox(call: AdmittedCall, functionId: string): Promise<RunOutcome> {
    const { name } = call.operation
    const startedAt = performance.now()
    const outcome = await this.#sandbox.call({
      program: call.site.program,
      functionId,
      operation: name,
      requestId: call.requestId,
      auth: call.visitor?.authText ?? 'null',
      authority: call.authority,
      depth: call.depth,
      address: call.address,
      signal: call.signal,
      visitorSignal: call.visitorSignal,
      body: call.body,
    })
    const wallUs = Math.round((performance.now() - startedAt) * 1000)
    this.#usage.record(call.siteId, name, outcome.ok ? 'call' : 'error', {
      cpuUs: outcome.cpuUs,
      wallUs,
    })
    return outcome.ok
      ? { body: `{"ok":true,"data":${outcome.result}}` }
      : { error: this.#failed(call, outcome.failure) }
  }

  async #preset(call: AdmittedCall, binding: PresetBinding): Promise<RunOutcome> {
    const { siteId, operation } = call
    const startedAt = performance.now()
    const count = (what: 'call' | 'error') => {
      const wallUs = Math.round((performance.now() - startedAt) * 1000)
      this.#usage.record(siteId, operation.name, what, { cpuUs: 0, wallUs })
    }
    try {
      const data = JSON.stringify(await this.#presets.perform(call, binding))
      count('call')
      return { body: `{"ok":true,"data":${data}}` }
    } catch (error) {
      count('error')
      if (!(error instanceof AppError)) throw error
      const { code, message } = error
      this.#logs.failure({ ...about(call), level: LEVELS[code] ?? 'info', code, message })
      return { error: () => error }
    }
  }

  #faulty(
    call: AdmittedCall,
    fault: { readonly functionName: string; readonly message: string },
  ): RunOutcome {
    const { name } = call.operation
    this.#usage.record(call.siteId, name, 'error')
    this.#logs.failure({
      ...about(call),
      level: 'error',
      code: 'InvalidFunction',
      message: `Function "${fault.functionName}" does not load: ${fault.message}`,
    })
    return { error: () => invalidFunction(name) }
  }

  #failed(call: AdmittedCall, raw: SandboxFailure): FlightError {
    // Says which: not JSON, or JSON but no object.
    if (raw.kind === 'invalidBody') payloadOf(call.body)
    const failure = redactedFailure(raw, (text) => this.#redact(call.siteId, text))
    const error = failureOf(failure, { operation: call.operation.name, requestId: call.requestId })
    if (failure.kind !== 'invalidBody') {
      this.#logs.failure({
        ...about(call),
        level: LEVELS[error.code] ?? 'error',
        code: error.thrown?.code ?? error.code,
        message: logWords(failure),
      })
    }
    return (requestId) => failureOf(failure, { operation: call.operation.name, requestId })
  }
}

/** Failures that are no fault of the function. */
const LEVELS: Partial<Record<AppError['code'], 'info' | 'warn'>> = {
  OperationRejected: 'info',
  OperationOverloaded: 'warn',
  OperationInterrupted: 'warn',
}

const about = ({ siteId, operation, requestId }: AdmittedCall) => ({
  siteId,
  operation: operation.name,
  requestId,
})
