import { randomUUID } from 'node:crypto'

import { Type, type Static } from '@sinclair/typebox'

import { AppError, invalid, notFound } from '#base/app-error.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { CallProfile, Program, Sandbox } from '#platform/sandbox-host/sandbox.ts'
import { redactedFailure } from '#runtime/calls/failures.ts'
import { computeFailure } from '#runtime/compute/failures.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import type { SourceMaps } from '#runtime/source-maps/source-maps.ts'
import type { RuntimeUsage } from '#runtime/usage/runtime-usage.ts'
import type { Site } from '#sites/site.ts'

import { type CpuProfile, CpuProfileBuilder } from './cpu-profile.ts'

const MAX_CALLS = 1000
const MAX_SECONDS = 20
const DEFAULT_SECONDS = 10
/** About 10 MB of JSON. */
const MAX_SAMPLES = 200_000
const MAX_PLACES = 5000

export const ProfileBody = Type.Object(
  {
    payload: Type.Optional(Type.Unknown()),
    calls: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_CALLS, description: 'one after the other; 1' }),
    ),
    seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SECONDS,
        description: `after which no further call begins; ${DEFAULT_SECONDS}`,
      }),
    ),
  },
  { additionalProperties: false },
)
type ProfileBody = Static<typeof ProfileBody>

type Bundled = CallProfile['stretches'][number]['nodes'][number]

/** Runs operations to see where their time goes: as the site itself, in an isolate that no visitor's call shares. */
export class OperationProfiles {
  readonly #deps
  readonly #busy = new Set<string>()

  constructor(deps: {
    readonly sandbox: Pick<Sandbox, 'profile' | 'retire'>
    readonly published: Pick<PublishedSites, 'current'>
    readonly sourceMaps: Pick<SourceMaps, 'original'>
    readonly runtimeUsage: RuntimeUsage
    redact(siteId: string, text: string): string
  }) {
    this.#deps = deps
  }

  /** One at a time for each site. A call that fails ends it with what an admin may know of that failure. */
  async profile(
    site: Site,
    operation: string,
    { requestId, body }: { readonly requestId: string; readonly body: ProfileBody },
  ): Promise<CpuProfile> {
    const { siteId, domain } = site
    const published = await this.#deps.published.current({ siteId, domain })
    const { target, http } = published.operations.get(operation) ?? {}
    if (!target) throw notFound('Operation', operation)
    if (target.kind !== 'function' || http === true) throw unprofiled(operation)
    if (this.#busy.has(siteId)) throw busy()
    this.#busy.add(siteId)
    // Its own key: an isolate of its own, without other code in it.
    const program = { ...published.program, key: `${siteId}!${randomUUID()}` }
    const call: Call = {
      site: { siteId, domain },
      operation,
      requestId,
      authority: 'system',
      depth: 0,
      body: JSON.stringify({ payload: body.payload ?? null }),
      fresh: true,
    }
    try {
      return await this.#run(call, { program, functionId: target.functionId, body })
    } finally {
      this.#busy.delete(siteId)
      this.#deps.sandbox.retire(program)
    }
  }

  async #run(
    call: Call,
    run: { readonly program: Program; readonly functionId: string; readonly body: ProfileBody },
  ): Promise<CpuProfile> {
    const { calls = 1, seconds = DEFAULT_SECONDS } = run.body
    const endMs = performance.now() + seconds * 1000
    const stretches: CallProfile['stretches'][number][] = []
    let samples = 0
    for (let done = 0; done < calls && samples < MAX_SAMPLES; done += 1) {
      if (done > 0 && performance.now() >= endMs) break
      for (const stretch of await this.#once(call, run)) {
        stretches.push(stretch)
        samples += stretch.samples.length
      }
    }
    const written = await this.#places(call.site.siteId, stretches)
    const builder = new CpuProfileBuilder((place) => written.get(keyOf(place)) ?? place)
    for (const stretch of stretches) builder.add(stretch)
    return builder.profile()
  }

  async #once(
    call: Call,
    { program, functionId }: { readonly program: Program; readonly functionId: string },
  ): Promise<CallProfile['stretches']> {
    const { sandbox, runtimeUsage } = this.#deps
    const { siteId } = call.site
    const startedAt = performance.now()
    const outcome = await sandbox.profile(call, program, functionId)
    const wallUs = Math.round((performance.now() - startedAt) * 1000)
    const counted = { cpuUs: outcome.cpuUs, wallUs }
    runtimeUsage.record(siteId, call.operation, outcome.ok ? 'call' : 'error', counted)
    if (!outcome.ok)
      throw computeFailure(
        redactedFailure(outcome.failure, (text) => this.#deps.redact(siteId, text)),
      )
    return (JSON.parse(outcome.result) as CallProfile).stretches
  }

  /** Where the code of bundles was written. */
  async #places(siteId: string, stretches: CallProfile['stretches']) {
    const places = new Map<string, { path: string; line: number; column: number }>()
    const nodes = stretches.flatMap((stretch): readonly Bundled[] => stretch.nodes)
    for (const { url: path, line, column } of nodes) {
      const place = { path, line, column }
      const key = keyOf(place)
      if (!path.includes('.bundle.') || places.has(key)) continue
      if (places.size === MAX_PLACES) break
      places.set(key, (await this.#deps.sourceMaps.original(siteId, place)) ?? place)
    }
    return places
  }
}

const keyOf = ({ path, line, column }: { path: string; line: number; column: number }): string =>
  `${path}:${line}:${column}`

const unprofiled = (operation: string): AppError =>
  invalid(
    'operation',
    `"${operation}" runs no function that loads and answers with JSON: only such are profiled`,
  )

const busy = (): AppError =>
  new AppError('TooManyRequests', 'An operation of this site is being profiled: try again later', {
    retryAfterSeconds: 5,
  })
