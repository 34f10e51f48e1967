import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { Sandbox } from '#platform/sandbox-host/sandbox.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { envVarSection } from '#runtime/definitions/sections/env-vars.ts'
import { type GroupDirectory, groupSection } from '#runtime/definitions/sections/groups.ts'
import { jobSection } from '#runtime/definitions/sections/jobs.ts'
import { operationSection } from '#runtime/definitions/sections/operations.ts'
import { resourceSection } from '#runtime/definitions/sections/resources.ts'
import { Definitions } from '#runtime/definitions/service.ts'
import type { EnvVars } from '#runtime/env-vars/service.ts'
import type { Jobs } from '#runtime/jobs/service.ts'
import type { Operations } from '#runtime/operations/service.ts'
import type { Resources } from '#runtime/resources/service.ts'
import type { Revisions } from '#runtime/revisions/service.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { DefinitionProfiles } from './profiles.ts'
import { SealedDefinitions } from './sealed-definitions.ts'
import { IacJobs } from './service.ts'
import { IacSubmissions } from './submissions.ts'
import { IacWorker } from './worker.ts'

export interface IacDeps {
  readonly database: Database
  readonly queue: Queue
  readonly clock: Clock
  readonly ids: Ids
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly siteKeys: SiteKeys
  readonly sandbox: Pick<Sandbox, 'prepare'>
  readonly revisions: Revisions
  readonly resources: Resources
  readonly operations: Operations
  readonly envVars: EnvVars
  readonly jobs: Jobs
  readonly groups: GroupDirectory
}

/** Infrastructure as code. */
export interface Iac {
  readonly iacJobs: IacJobs
  readonly iacSubmissions: IacSubmissions
  readonly definitionProfiles: DefinitionProfiles
}

/** Also puts the jobs behind their queue. */
export function openIac(deps: IacDeps): Iac {
  const definitions = new Definitions([
    envVarSection(deps.envVars),
    groupSection(deps.groups),
    resourceSection(deps),
    operationSection(deps),
    jobSection(deps.jobs),
  ])
  const sealed = new SealedDefinitions({ ...deps, definitions })
  const profiles = new DefinitionProfiles({ ...deps, definitions })
  new IacWorker({ ...deps, definitions, sealed }).serve()
  return {
    iacJobs: new IacJobs({ ...deps, definitions }),
    iacSubmissions: new IacSubmissions({ ...deps, definitions, profiles, sealed }),
    definitionProfiles: profiles,
  }
}
