import { Type } from '@sinclair/typebox'

import type { Egress, EgressPolicy } from '#platform/egress/egress.ts'
import type { HostCall, HostCallName } from '#platform/sandbox-host/sandbox.ts'
import type { Published } from '#runtime/published/service.ts'
import { type RuntimeSettings, egressPolicy } from '#runtime/revisions/limits.ts'
import { parseShape } from '#runtime/shape.ts'

const HeaderPair = Type.Tuple([Type.String(), Type.String()])

const FetchArgument = Type.Object(
  {
    method: Type.String({ maxLength: 32 }),
    url: Type.String({ maxLength: 16 * 1024 }),
    headers: Type.Array(HeaderPair, { maxItems: 200 }),
    bodyBase64: Type.Optional(Type.String()),
    redirect: Type.Union([Type.Literal('follow'), Type.Literal('manual'), Type.Literal('error')]),
  },
  { additionalProperties: false },
)

/** The operator's settings, for code that runs outside a revision. */
export type SettingsOf = (siteId: string) => Promise<RuntimeSettings>

/** Answers what site code asks of the service. Every name is one row of a table; each checks what the site was granted. */
export class HostCalls {
  readonly #published: Published
  readonly #egress: Egress
  readonly #settingsOf: SettingsOf
  readonly #table: Readonly<Record<HostCallName, (call: HostCall) => Promise<string>>>

  constructor(deps: { published: Published; egress: Egress; settingsOf: SettingsOf }) {
    this.#published = deps.published
    this.#egress = deps.egress
    this.#settingsOf = deps.settingsOf
    this.#table = { fetch: (call) => this.#fetch(call) }
  }

  /** Answers with JSON text; a rejection reaches site code as an Error with that message. */
  answer(call: HostCall): Promise<string> {
    // The name comes from an isolate: look for it among the table's own names only.
    const served = Object.hasOwn(this.#table, call.name) ? this.#table[call.name] : undefined
    return served
      ? served(call)
      : Promise.reject(new Error(`"${call.name}" is not served by this version`))
  }

  async #fetch(call: HostCall): Promise<string> {
    const request = parseShape(FetchArgument, JSON.parse(call.argument), 'request')
    const policy = await this.#policyOf(call.siteId)
    return JSON.stringify(await this.#egress.fetch(request, policy, call.signal))
  }

  /** The policy that is current, also for code of an older revision that is still running. */
  async #policyOf(siteId: string): Promise<EgressPolicy> {
    const site = this.#published.peek(siteId)
    return site?.egress ?? egressPolicy((await this.#settingsOf(siteId)).egress.allow)
  }
}
