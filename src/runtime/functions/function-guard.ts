import { AppError } from '#base/app-error.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import type { OpenEnvVar } from '#runtime/env-vars/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import type { CurrentDeployment } from '#sites/deployments/artifacts.ts'

import { codeError, type FunctionFault } from './code-faults.ts'
import type { FunctionChecks, FunctionToCheck, SettledSite } from './function-checks.ts'

/** Deployments that may come between a check and what it was for. */
const MAX_ROUNDS = 5
const NO_FILES: ReadonlyMap<string, string> = new Map()

/** Turns the variables that a site has into those that it will have. */
export type EnvChange = (
  current: ReadonlyMap<string, OpenEnvVar>,
) => ReadonlyMap<string, OpenEnvVar>

export interface CheckedFunctions {
  readonly faults: readonly FunctionFault[]
  /** Whose files they were checked with; undefined when they need none. */
  readonly deploymentId: string | null | undefined
}

/** Where the site and its files are read. */
export interface FunctionSources {
  deployedCode(): DeployedCode
  site(tx: SiteTx): Promise<SettledSite>
}

/** The code of a site's current deployment. */
interface DeployedCode {
  /** Text of its code files, by path. Empty without a deployment. */
  codeFiles(siteId: string): Promise<ReadonlyMap<string, string>>
  /** Which deployment is current, for this transaction, and what `textsOf` needs to know of it. */
  current(tx: SiteTx): Promise<CurrentDeployment>
  textsOf(siteId: string, deployment: CurrentDeployment): Promise<ReadonlyMap<string, string>>
  /** Which one it is, for this transaction; null without one. */
  currentDeployment(tx: SiteTx): Promise<string | null>
}

/** Lets nothing be written that has functions which do not load. */
export class FunctionGuard {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly functionChecks: FunctionChecks
    readonly sources: FunctionSources
    readonly envVars: EnvVars
    readonly revisions: Revisions
  }) {
    this.#deps = deps
  }

  /** Loads functions as they would be with the site's variables and the files of its current deployment. */
  async check(
    siteId: string,
    functions: readonly FunctionToCheck[],
    change: EnvChange = (env) => env,
  ): Promise<CheckedFunctions> {
    if (functions.length === 0) return { faults: [], deploymentId: undefined }
    const { database, sources, envVars, functionChecks } = this.#deps
    const deployedCode = sources.deployedCode()
    const { deploymentId, env, site } = await database.withSite(siteId, async (tx) => ({
      // First: a later comparison then sees files that came since.
      deploymentId: await deployedCode.currentDeployment(tx),
      env: await envVars.values(tx),
      site: await sources.site(tx),
    }))
    const needsFiles = functions.some(({ config }) => config.artifact !== undefined)
    const files = needsFiles ? await deployedCode.codeFiles(siteId) : NO_FILES
    const world = { files, env: change(env), site }
    const faults = await functionChecks.faultsOf(siteId, functions, world)
    return { faults, deploymentId: needsFiles ? deploymentId : undefined }
  }

  /** Refuses functions that do not load, then runs `write` while the files that they were checked with are current. */
  async write<Result>(
    siteId: string,
    functions: readonly FunctionToCheck[],
    write: (tx: SiteTx) => Promise<Result>,
  ): Promise<Result> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const checked = await this.check(siteId, functions)
      const error = codeError(checked.faults)
      if (error) throw error
      const done = await this.#deps.database.withSite(siteId, async (tx) =>
        (await this.isCurrent(tx, checked)) ? { result: await write(tx) } : undefined,
      )
      if (done) return done.result
    }
    throw deployedMeanwhile()
  }

  /** Whether the files are still those of the check; they stay so until the transaction ends. */
  async isCurrent(
    tx: SiteTx,
    { deploymentId }: Pick<CheckedFunctions, 'deploymentId'>,
  ): Promise<boolean> {
    if (deploymentId === undefined) return true
    await this.#deps.revisions.lock(tx)
    return (await this.#deps.sources.deployedCode().currentDeployment(tx)) === deploymentId
  }
}

const deployedMeanwhile = (): AppError =>
  new AppError('ServiceUnavailable', 'The site is being deployed again and again: try again', {
    retryAfterSeconds: 1,
  })
