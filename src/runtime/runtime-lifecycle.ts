import { AppError } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type {
  DeploymentLifecycle,
  ActivationStep,
  CompleteDeployment,
} from '#sites/deployments/deployment-lifecycle.ts'
import type { SiteLifecycle, SiteCreation } from '#sites/site-lifecycle.ts'
import { SITE_DEFINITION_FILE } from '#sites/static-settings.ts'

import { parseDefinitionJson } from './definitions/definition-json.ts'
import type { IacSubmissions } from './iac/submissions.ts'
import type { Revisions } from './revisions/service.ts'

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
    const definition = codeFiles.get(SITE_DEFINITION_FILE)
    return definition === undefined
      ? (tx) => this.updated(tx)
      : this.#deps.iacSubmissions.prepareDeployment(siteId, deploymentId, parseFile(definition))
  }
}

/** What the file says of the runtime: how public files are served is not the runtime's. */
function parseFile(text: string): unknown {
  try {
    const value = parseDefinitionJson(text)
    if (!isJsonObject(value)) return value
    const { static: _static, ...definition } = value
    return definition
  } catch (cause) {
    throw new AppError('InvalidArtifact', `${SITE_DEFINITION_FILE} is not valid JSON`, { cause })
  }
}
