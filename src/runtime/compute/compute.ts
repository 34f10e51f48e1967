import type { AppError } from '#base/app-error.ts'
import type { ComputeOutcome, Sandbox } from '#platform/sandbox-host/sandbox.ts'
import { type RuntimeSettings, siteLimits } from '#runtime/revisions/limits.ts'
import { COMPUTE } from '#runtime/usage/model.ts'
import type { RuntimeUsage } from '#runtime/usage/runtime-usage.ts'
import type { Site } from '#sites/site.ts'

import { computeFailure } from './failures.ts'
import { type ComputeBody, type ComputeLine, checkComputeCode, payloadText } from './model.ts'

const MEMORY_MB = 128
const DEFAULT_TIMEOUT_SECONDS = 10

export interface ComputeResult {
  /** JSON text, or why there is none. */
  readonly data: string | AppError
  readonly logs: readonly ComputeLine[]
  readonly durationMs: number
}

/** Runs a site's ad-hoc code, each time in a context of its own. */
export class Compute {
  readonly #deps

  constructor(deps: {
    readonly sandbox: Pick<Sandbox, 'compute'>
    readonly usage: RuntimeUsage
    settingsOf(siteId: string): Promise<RuntimeSettings>
  }) {
    this.#deps = deps
  }

  async execute(site: Site, requestId: string, body: ComputeBody): Promise<ComputeResult> {
    checkComputeCode(body.code)
    const settings = await this.#deps.settingsOf(site.siteId)
    const startedAt = performance.now()
    const outcome = await this.#deps.sandbox.compute({
      siteId: site.siteId,
      siteDomain: site.domain,
      requestId,
      code: body.code,
      payload: payloadText(body.payload),
      timeoutMs: (body.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
      memoryMb: MEMORY_MB,
      limits: siteLimits(settings.limits),
    })
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    this.#deps.usage.record(site.siteId, COMPUTE, outcome.ok ? 'call' : 'error', {
      cpuUs: outcome.cpuUs,
      wallUs: durationMs * 1000,
    })
    return {
      data: outcome.ok ? outcome.result : computeFailure(outcome.failure),
      logs: outcome.logs.map(toAnswerLine),
      durationMs,
    }
  }
}

const toAnswerLine = ({ at, level, message }: ComputeOutcome['logs'][number]): ComputeLine => ({
  at: at.toISOString(),
  level,
  message,
})
