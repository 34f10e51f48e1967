import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { type ParsedDefinition, canonicalDefinition } from '#runtime/definitions/parse.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { selectSealed } from './queries.ts'

/** What a waiting job will carry out: it may hold the values of secrets, so it is stored sealed. */
export class SealedDefinitions {
  readonly #sealer: Pick<Sealer, 'seal' | 'open'>
  readonly #siteKeys: SiteKeys
  readonly #definitions: Definitions

  constructor(deps: {
    sealer: Pick<Sealer, 'seal' | 'open'>
    siteKeys: SiteKeys
    definitions: Definitions
  }) {
    this.#sealer = deps.sealer
    this.#siteKeys = deps.siteKeys
    this.#definitions = deps.definitions
  }

  async seal(tx: SiteTx, jobId: string, definition: ParsedDefinition): Promise<Buffer> {
    const text = JSON.stringify(canonicalDefinition(definition))
    const key = await this.#siteKeys.wrapped(tx)
    return this.#sealer.seal(key, contextOf(jobId), Buffer.from(text))
  }

  /** Undefined once the job has ended. */
  async open(
    tx: SiteTx,
    job: { readonly jobId: string; readonly number: string },
  ): Promise<ParsedDefinition | undefined> {
    const sealed = await selectSealed(tx, job.number)
    if (sealed === null) return undefined
    const key = await this.#siteKeys.wrapped(tx)
    const text = this.#sealer.open(key, contextOf(job.jobId), sealed).toString()
    return this.#definitions.parse(JSON.parse(text))
  }
}

const contextOf = (jobId: string): string => `iac-job:${jobId}`
