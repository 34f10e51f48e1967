import type { Database } from '#platform/postgres/database.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import type { EnvVarChange, OpenEnvVar } from '#runtime/env-vars/model.ts'
import { codeError } from '#runtime/functions/code-faults.ts'
import type { FunctionChecks, FunctionToCheck } from '#runtime/functions/function-checks.ts'
import type {
  CheckedFunctions,
  FunctionGuard,
  FunctionSources,
} from '#runtime/functions/function-guard.ts'
import { functionsIn } from '#runtime/resources/function-parts.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import type { CompleteDeployment } from '#sites/deployments/deployment-lifecycle.ts'

import type { ParsedDefinition } from './parse.ts'
import type { Mode } from './plan.ts'

interface DefinedFunctionsDeps {
  readonly database: Database
  readonly functionChecks: FunctionChecks
  readonly functionGuard: FunctionGuard
  readonly resources: Resources
  readonly envVars: EnvVars
  readonly sources: Pick<FunctionSources, 'site'>
}

/** Whether the functions of a definition, or of a site that gets new files, load. Asks the sandbox: never in a transaction. */
export class DefinedFunctions {
  readonly #deps: DefinedFunctionsDeps

  constructor(deps: DefinedFunctionsDeps) {
    this.#deps = deps
  }

  /** With the files of the current deployment, and the variables that the site has once the definition is applied. */
  check(siteId: string, definition: ParsedDefinition, mode: Mode): Promise<CheckedFunctions> {
    return this.#deps.functionGuard.check(siteId, functionsOf(definition), (env) =>
      envAfter(env, definition, mode),
    )
  }

  /** 400 `InvalidCode` when `check` finds faults. */
  async require(siteId: string, definition: ParsedDefinition, mode: Mode): Promise<void> {
    const error = codeError((await this.check(siteId, definition, mode)).faults)
    if (error) throw error
  }

  /** As `require`, for a definition that is only kept: files may come with a later deployment. */
  async requireInline(siteId: string, definition: ParsedDefinition): Promise<void> {
    const inline = functionsOf(definition).filter(({ config }) => config.artifact === undefined)
    const checked = await this.#deps.functionGuard.check(siteId, inline, (env) =>
      envAfter(env, definition, 'apply'),
    )
    const error = codeError(checked.faults)
    if (error) throw error
  }

  /**
   * 400 `InvalidCode` when functions that the site has, or will have by its definition, do not load with these files. Gives
   * the version of those that it has: what was found is true for no other.
   */
  async requireForDeployment(
    siteId: string,
    { codeFiles: files, isRollback }: Pick<CompleteDeployment, 'codeFiles' | 'isRollback'>,
    definition: ParsedDefinition = new Map(),
  ): Promise<string> {
    const { database, resources, envVars, sources, functionChecks } = this.#deps
    const { version, existing, before, site } = await database.withSite(siteId, async (tx) => ({
      version: await resources.functionsVersion(tx),
      existing: await resources.all(tx),
      before: await envVars.values(tx),
      site: await sources.site(tx),
    }))
    const env = envAfter(before, definition, 'apply')
    const defined = functionsOf(definition)
    const names = namesIn(definition)
    const staying = existing
      .flatMap((resource) => functionsIn(resource.name, resource))
      .filter((one) => !names.has(one.name) && isTouched(one, before, env))
      // One that came later goes on with the code that it has.
      .filter(({ config }) => !isRollback || files.has(config.artifact ?? ''))
      .map((one) => ({ ...one, field: undefined }))
    const world = { files, env, site }
    const faults = await functionChecks.faultsOf(siteId, [...defined, ...staying], world)
    const error = codeError(faults)
    if (error) throw error
    return version
  }
}

/** Whether a deployment changes anything for a function that its definition does not name. */
const isTouched = (
  { config: { artifact, environment } }: FunctionToCheck,
  before: ReadonlyMap<string, OpenEnvVar>,
  after: ReadonlyMap<string, OpenEnvVar>,
): boolean =>
  artifact !== undefined ||
  environment.some((name) => before.get(name)?.value !== after.get(name)?.value)

/** The names of what the definition makes of a site's resources, and what they were before. */
const namesIn = (definition: ParsedDefinition): ReadonlySet<string> =>
  new Set(
    (definition.get('resources') ?? []).flatMap(({ item: { name, renamedFrom } }) =>
      renamedFrom === undefined ? [name] : [name, renamedFrom],
    ),
  )

const functionsOf = (definition: ParsedDefinition): FunctionToCheck[] =>
  (definition.get('resources') ?? []).flatMap(({ index, item }) =>
    item.functionConfig === undefined
      ? []
      : [{ name: item.name, field: `resources[${index}].config`, config: item.functionConfig }],
  )

/** The variables of a site once the definition is applied to it. */
function envAfter(
  current: ReadonlyMap<string, OpenEnvVar>,
  definition: ParsedDefinition,
  mode: Mode,
): ReadonlyMap<string, OpenEnvVar> {
  const placed = definition.get('envVars')
  if (placed === undefined) return current
  const env = new Map(mode === 'replace' ? [] : current)
  for (const { item } of placed) {
    const after = variableAfter(current.get(item.name), item.variable)
    if (after) env.set(item.name, after)
  }
  return env
}

/** What a definition leaves out stays as it is. */
function variableAfter(
  known: OpenEnvVar | undefined,
  { value = known?.value, secret = known?.secret ?? false }: Partial<EnvVarChange> = {},
): OpenEnvVar | undefined {
  return value === undefined || value === null ? undefined : { value, secret }
}
