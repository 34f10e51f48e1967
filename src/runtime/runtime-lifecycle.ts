import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type {
  DeploymentLifecycle,
  ActivationStep,
  CompleteDeployment,
} from '#sites/deployments/deployment-lifecycle.ts'
import type { SiteLifecycle, SiteCreation } from '#sites/site-lifecycle.ts'

import type { IacSubmissions } from './iac/submissions.ts'
import type { Revisions } from './revisions/service.ts'

/** The file of an artifact that says what the site's runtime is made of. */
const DEFINITION_FILE = 'croft.json'

interface RuntimeLifecycleDeps {
  readonly revisions: Revisions
  readonly iacSubmissions: IacSubmissions
}

/** What the runtime keeps for every site, and what it does when a site gets new files. */
export class RuntimeLifecycle implements SiteLifecycle, DeploymentLifecycle {
  readonly #deps: RuntimeLifecycleDeps

  constructor(deps: RuntimeLifecycleDeps) {
    this.#deps = deps
  }

  /** A site starts with its first revision on the way. */
  async created(tx: SiteTx): Promise<SiteCreation> {
    await this.updated(tx)
    return {}
  }

  /** New settings reach site code with the next revision. */
  async updated(tx: SiteTx): Promise<void> {
    await this.#deps.revisions.request(tx)
  }

  /** The new code is published together with what its definition makes of the site. */
  async prepare(deployment: CompleteDeployment): Promise<ActivationStep> {
    const { siteId, deploymentId, codeFiles } = deployment
    const definition = codeFiles.get(DEFINITION_FILE)
    return definition === undefined
      ? (tx) => this.updated(tx)
      : this.#deps.iacSubmissions.prepareDeployment(siteId, deploymentId, parseFile(definition))
  }
}

function parseFile(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('InvalidArtifact', `${DEFINITION_FILE} is not valid JSON`, { cause })
  }
}
