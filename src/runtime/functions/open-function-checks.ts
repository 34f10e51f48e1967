import type { Database } from '#platform/postgres/database.ts'
import type { Sandbox } from '#platform/sandbox-host/sandbox.ts'
import type { EnvVars } from '#runtime/env-vars/service.ts'
import type { Revisions } from '#runtime/revisions/service.ts'
import type { SourceMaps } from '#runtime/source-maps/service.ts'

import { FunctionChecks } from './function-checks.ts'
import { FunctionGuard, type FunctionSources } from './function-guard.ts'
import { PreparedFunctionCache } from './prepared-functions.ts'

interface OpenFunctionChecksDeps {
  readonly database: Database
  readonly sandbox: Sandbox
  readonly revisions: Revisions
  readonly envVars: EnvVars
  readonly sources: FunctionSources
  readonly sourceMaps: Pick<SourceMaps, 'original'>
}

/** What finds out whether functions load, before they are written. */
export function openFunctionChecks(deps: OpenFunctionChecksDeps) {
  const prepared = new PreparedFunctionCache(deps.sandbox)
  const functionChecks = new FunctionChecks({ ...deps, prepared })
  return { functionChecks, functionGuard: new FunctionGuard({ ...deps, functionChecks }) }
}
