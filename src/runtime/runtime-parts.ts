import { AppError } from '#base/app-error.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { ActivationParts } from '#sites/deployments/activation-parts.ts'
import type { SiteParts, SitePartsResult } from '#sites/site-parts.ts'

import type { Submissions } from './iac/submissions.ts'
import type { SyncSources } from './permission-sync/service.ts'
import type { Revisions } from './revisions/service.ts'

/** The file of an artifact that says what the site's runtime is made of. */
const DEFINITION_FILE = 'croft.json'

/** What the runtime keeps for every site, and what it does when a site gets new files. */
export class RuntimeParts implements SiteParts, ActivationParts {
  readonly #database: Database
  readonly #revisions: Revisions
  readonly #submissions: Pick<Submissions, 'submitDeployment'>
  readonly #sources: Pick<SyncSources, 'codeFiles'>

  constructor(deps: {
    database: Database
    revisions: Revisions
    iacSubmissions: Pick<Submissions, 'submitDeployment'>
    sources: Pick<SyncSources, 'codeFiles'>
  }) {
    this.#database = deps.database
    this.#revisions = deps.revisions
    this.#submissions = deps.iacSubmissions
    this.#sources = deps.sources
  }

  /** A site starts with its first revision on the way. */
  async created(tx: SiteTx): Promise<SitePartsResult> {
    await this.#revisions.request(tx)
    return {}
  }

  /** New settings reach site code with the next revision. */
  async updated(tx: SiteTx): Promise<void> {
    await this.#revisions.request(tx)
  }

  /** The new code is published together with what its definition makes of the site. */
  async activated(siteId: string, deploymentId: string): Promise<void> {
    const definition = (await this.#sources.codeFiles(siteId)).get(DEFINITION_FILE)
    if (definition !== undefined) {
      await this.#submissions.submitDeployment(siteId, deploymentId, parseFile(definition))
      return
    }
    await this.#publish(siteId)
  }

  /** What the earlier deployment defined was carried out in its time; what admins changed since is theirs. */
  tookBack(siteId: string): Promise<void> {
    return this.#publish(siteId)
  }

  async #publish(siteId: string): Promise<void> {
    await this.#database.withSite(siteId, (tx) => this.#revisions.request(tx))
  }
}

function parseFile(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('InvalidArtifact', `${DEFINITION_FILE} is not valid JSON`, { cause })
  }
}
