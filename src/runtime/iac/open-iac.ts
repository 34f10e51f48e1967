import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { DefinedFunctions } from '#runtime/definitions/defined-functions.ts'
import { envVarSection } from '#runtime/definitions/sections/env-vars.ts'
import { type GroupDirectory, groupSection } from '#runtime/definitions/sections/groups.ts'
import { jobSection } from '#runtime/definitions/sections/jobs.ts'
import { operationSection } from '#runtime/definitions/sections/operations.ts'
import { resourceSection } from '#runtime/definitions/sections/resources.ts'
import { Definitions } from '#runtime/definitions/service.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import type { FunctionChecks } from '#runtime/functions/function-checks.ts'
import type { FunctionGuard, FunctionSources } from '#runtime/functions/function-guard.ts'
import type { Jobs } from '#runtime/jobs/jobs.ts'
import type { Operations } from '#runtime/operations/service.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { DefinitionProfiles } from './profiles.ts'
import { SealedDefinitions } from './sealed-definitions.ts'
import { IacJobs } from './service.ts'
import { IacSubmissions } from './submissions.ts'
import { IacWorker } from './worker.ts'

export interface OpenIacDeps extends PlatformServices {
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'derive'>
  readonly siteKeys: SiteKeys
  readonly groups: GroupDirectory
  readonly securityEvents: Pick<SecurityEvents, 'record'>
  readonly revisions: Revisions
  readonly envVars: EnvVars
  readonly functionChecks: FunctionChecks
  readonly functionGuard: FunctionGuard
  readonly sources: Pick<FunctionSources, 'site'>
  readonly resources: Resources
  readonly operations: Operations
  readonly jobs: Jobs
}

/** Infrastructure as code, with the worker that carries its jobs out behind its queue. */
export function openIac(deps: OpenIacDeps) {
  const definitions = new Definitions([
    envVarSection(deps.envVars),
    groupSection(deps.groups),
    resourceSection(deps.resources),
    operationSection(deps),
    jobSection(deps.jobs),
  ])
  const sealed = new SealedDefinitions({ ...deps, definitions })
  const definedFunctions = new DefinedFunctions(deps)
  const parts = { ...deps, definitions, definedFunctions, sealed }
  const profiles = new DefinitionProfiles(parts)
  new IacWorker(parts).serve()
  return {
    definitions,
    definedFunctions,
    iacJobs: new IacJobs(parts),
    iacSubmissions: new IacSubmissions({ ...parts, profiles }),
    definitionProfiles: profiles,
  }
}
