import { AppError, type FieldFault } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import { type JsonPath, jsonPlace, jsonSyntaxFault } from '#base/json-places.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import {
  ActivationOutdated,
  type ActivationStep,
  type CompleteDeployment,
  type DeploymentLifecycle,
} from '#sites/deployments/deployment-lifecycle.ts'
import type { SiteLifecycle, SiteCreation } from '#sites/site-lifecycle.ts'
import { SITE_DEFINITION_FILE } from '#sites/static-settings.ts'

import type { DefinedFunctions } from './definitions/defined-functions.ts'
import { parseDefinitionJson } from './definitions/definition-json.ts'
import type { ParsedDefinition } from './definitions/parse.ts'
import type { Definitions } from './definitions/service.ts'
import { MAX_FAULTS, type SourceFaultReport } from './functions/code-faults.ts'
import type { IacSubmissions } from './iac/submissions.ts'
import type { PermissionSync } from './permission-sync/permission-sync.ts'
import type { Resources } from './resources/resources.ts'
import type { Revisions } from './revisions/revisions.ts'

/** What the runtime keeps for every site, and what it does when a site gets new files. */
export class RuntimeLifecycle implements SiteLifecycle, DeploymentLifecycle {
  readonly #deps

  constructor(deps: {
    readonly revisions: Revisions
    readonly resources: Resources
    readonly definitions: Definitions
    readonly definedFunctions: DefinedFunctions
    readonly iacSubmissions: IacSubmissions
    readonly permissionSync: Pick<PermissionSync, 'publishFirst'>
  }) {
    this.#deps = deps
  }

  /** A site starts with its first revision, which has nothing in it. */
  async created(tx: SiteTx): Promise<SiteCreation> {
    await this.#deps.permissionSync.publishFirst(tx)
    return {}
  }

  /** New settings reach site code with the next revision. */
  async updated(tx: SiteTx): Promise<void> {
    await this.#deps.revisions.request(tx)
  }

  /**
   * Refuses a deployment with which any function would not load. The new code is published together with what its
   * definition makes of the site.
   */
  async prepare(deployment: CompleteDeployment): Promise<ActivationStep> {
    const { siteId, deploymentId, by, codeFiles } = deployment
    const { revisions, resources, definedFunctions, iacSubmissions } = this.#deps
    const text = codeFiles.get(SITE_DEFINITION_FILE)
    const definition = text === undefined ? undefined : this.#parse(text)
    const checked = await definedFunctions.requireForDeployment(siteId, deployment, definition)
    return async (tx) => {
      await revisions.lock(tx)
      // The functions of the site are others than those that were found to load.
      if ((await resources.functionsVersion(tx)) !== checked) throw new ActivationOutdated()
      if (text === undefined || definition === undefined) await this.updated(tx)
      else {
        await iacSubmissions
          .takeDeployment(tx, { deploymentId, by }, definition)
          .catch((error: unknown) => Promise.reject(placedInFile(error, text)))
      }
    }
  }

  #parse(text: string): ParsedDefinition {
    const fault = jsonSyntaxFault(text)
    if (fault) {
      const { message, line, column } = fault
      throw new AppError(
        'InvalidArtifact',
        `${SITE_DEFINITION_FILE} is not valid JSON: line ${line}, column ${column}: ${message}`,
        { fields: { faults: [reportOf(message, { line, column })] } },
      )
    }
    try {
      return this.#deps.definitions.parse(runtimePart(parseDefinitionJson(text)))
    } catch (error) {
      throw placedInFile(error, text)
    }
  }
}

/** What the file says of the runtime: how public files are served is not the runtime's. */
function runtimePart(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { static: _static, ...definition } = value
  return definition
}

/** The same refusal with the place in the file of each field that it names. */
function placedInFile(error: unknown, text: string): unknown {
  if (!(error instanceof AppError) || error.details === undefined) return error
  const { code, details, fields, retryAfterSeconds } = error
  const faults = details.slice(0, MAX_FAULTS).map(({ field, message }) => {
    const place = jsonPlace(text, pathOf(field))
    return reportOf(`${field}: ${message}`, place)
  })
  const line = faults[0]?.line
  const at = line === undefined || line === null ? '' : `, line ${line}`
  return new AppError(code, `${SITE_DEFINITION_FILE}${at}: ${error.message}`, {
    cause: error,
    details,
    fields: { faults, ...fields },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/** The file may hold secrets: no line of it is shown. */
const reportOf = (
  message: string,
  place: { readonly line: number; readonly column: number } | undefined,
): SourceFaultReport => ({
  function: null,
  file: SITE_DEFINITION_FILE,
  line: place?.line ?? null,
  column: place?.column ?? null,
  message,
  frame: null,
})

/** `resources[2].config.code` as the steps that lead there. */
const pathOf = (field: FieldFault['field']): JsonPath =>
  field
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
