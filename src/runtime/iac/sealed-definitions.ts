import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { type ParsedDefinition, canonicalDefinition } from '#runtime/definitions/parse.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import type { IacJob } from './model.ts'
import { selectSealed } from './queries.ts'

interface SealedDefinitionsDeps {
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly siteKeys: SiteKeys
  readonly definitions: Definitions
}

/** What a waiting job will carry out: it may hold the values of secrets, so it is stored sealed. */
export class SealedDefinitions {
  readonly #deps: SealedDefinitionsDeps

  constructor(deps: SealedDefinitionsDeps) {
    this.#deps = deps
  }

  async seal(tx: SiteTx, jobId: string, definition: ParsedDefinition): Promise<Buffer> {
    const text = JSON.stringify(canonicalDefinition(definition))
    const key = await this.#deps.siteKeys.wrapped(tx)
    return this.#deps.sealer.seal(key, contextOf(jobId), Buffer.from(text))
  }

  /** Undefined once the job has ended. */
  async open(
    tx: SiteTx,
    job: Pick<IacJob, 'jobId' | 'number'>,
  ): Promise<ParsedDefinition | undefined> {
    const sealed = await selectSealed(tx, job.number)
    if (sealed === null) return undefined
    const key = await this.#deps.siteKeys.wrapped(tx)
    const text = this.#deps.sealer.open(key, contextOf(job.jobId), sealed).toString()
    return this.#deps.definitions.parse(JSON.parse(text))
  }
}

const contextOf = (jobId: string): string => `iac-job:${jobId}`
