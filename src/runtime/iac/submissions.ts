import { AppError, invalid } from '#base/app-error.ts'
import { type StepUp, noStepUp } from '#base/effects.ts'
import { deployerName } from '#identity/security-events/activation-event.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { DefinedFunctions } from '#runtime/definitions/defined-functions.ts'
import { type ParsedDefinition, throwFaults } from '#runtime/definitions/parse.ts'
import type { DefinitionPlan } from '#runtime/definitions/plan.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import type { PermissionsSync } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import type { CompleteDeployment } from '#sites/deployments/deployment-lifecycle.ts'
import { IdempotentAnswers, type RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'

import { deletionKey, deletionsIn, confirmationError } from './confirmation.ts'
import {
  type DefinitionSource,
  type IacJobOrder,
  type IacRequest,
  KEPT_DAYS,
  KEPT_JOBS,
  MAX_OPEN_JOBS,
} from './model.ts'
import type { DefinitionProfiles } from './profiles.ts'
import { countOpenJobs, deleteOldJobs, insertIacJob, selectIacJobs } from './queries.ts'
import type { SealedDefinitions } from './sealed-definitions.ts'

const DAY_MS = 24 * 3_600_000

export interface SubmittedJob {
  readonly jobId: string
  readonly status: 'queued'
  readonly definitionSource: DefinitionSource
  /** Whether this request saved its definition as a profile. */
  readonly definitionPersisted: boolean
  readonly permissionsSync: PermissionsSync
}

type NewJobRequest = IacJobOrder & {
  readonly confirm: NonNullable<IacRequest['confirm']>
  readonly stepUp: StepUp
}

/** Who submits a definition. */
interface Submitter {
  readonly userId: string
  readonly repeat: RepeatableRequest | undefined
  readonly stepUp: StepUp
  readonly audit: SiteAudit
}

interface IacSubmissionsDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids' | 'disk'
> {
  readonly definitions: Definitions
  readonly definedFunctions: DefinedFunctions
  readonly profiles: DefinitionProfiles
  readonly sealed: SealedDefinitions
  readonly revisions: Revisions
  readonly resources: Pick<Resources, 'contents'>
}

/** Takes definitions in: what cannot be carried out is refused here, the rest waits for its turn. */
export class IacSubmissions {
  readonly #deps: IacSubmissionsDeps
  readonly #answers: IdempotentAnswers

  constructor(deps: IacSubmissionsDeps) {
    this.#deps = deps
    this.#answers = new IdempotentAnswers(deps)
  }

  /**
   * The inline definition counts when there is one, else the profile's. 400 `ConfirmationRequired` names what `replace`
   * would delete and was not agreed to. Asks for a step-up for what changes variables.
   */
  async submit(siteId: string, request: IacRequest, by: Submitter): Promise<SubmittedJob> {
    const { database, definitions, definedFunctions, disk } = this.#deps
    disk.check('database')
    checkCombination(request)
    const inline =
      request.definition === undefined ? undefined : definitions.parse(request.definition)
    if (inline) await definedFunctions.require(siteId, inline, request.mode)
    return database.withSite(siteId, (tx) => {
      const work = () => this.#take(tx, request, { inline, by })
      return by.repeat ? this.#answers.once(tx, by.repeat, work) : work()
    })
  }

  /**
   * Takes in the definition of an artifact that becomes current. Asked again while its job waits behind all others, it is
   * one job. The caller has locked the site and has checked the functions.
   */
  async takeDeployment(
    tx: SiteTx,
    { deploymentId, by }: Pick<CompleteDeployment, 'deploymentId' | 'by'>,
    definition: ParsedDefinition,
  ): Promise<void> {
    const [newest] = await selectIacJobs(tx, { limit: 1, after: undefined })
    if (newest?.status === 'queued' && newest.deploymentId === deploymentId) return
    await this.#enqueue(tx, definition, {
      mode: 'apply',
      source: 'deployment',
      profileName: null,
      deploymentId,
      persisted: false,
      confirm: false,
      requestedBy: deployerName(by),
      stepUp: noStepUp,
    })
  }

  async #take(
    tx: SiteTx,
    request: IacRequest,
    from: { readonly inline: ParsedDefinition | undefined; readonly by: Submitter },
  ): Promise<SubmittedJob> {
    const { revisions, profiles } = this.#deps
    const {
      mode,
      definitionProfileName: profileName,
      persistDefinition: persisted = false,
    } = request
    const definition = from.inline ?? (await this.#ofProfile(tx, profileName))
    await revisions.lock(tx)
    const source = from.inline ? 'inline' : 'profile'
    const jobId = await this.#enqueue(tx, definition, {
      mode,
      source,
      profileName: profileName ?? null,
      deploymentId: null,
      persisted,
      confirm: request.confirm ?? false,
      requestedBy: from.by.userId,
      stepUp: from.by.stepUp,
    })
    const { audit } = from.by
    await audit(tx, { event: 'definition.submitted', detail: { jobId, mode } })
    if (persisted && profileName !== undefined) {
      const saved = { definition: request.definition, parsed: definition }
      await profiles.save(tx, profileName, saved, audit)
    }
    return {
      jobId,
      status: 'queued',
      definitionSource: source,
      definitionPersisted: persisted,
      permissionsSync: { status: 'queued' },
    }
  }

  async #ofProfile(tx: SiteTx, profileName: string | undefined): Promise<ParsedDefinition> {
    const { definitions, profiles } = this.#deps
    if (profileName === undefined) throw definitionMissing()
    return definitions.parse((await profiles.find(tx, profileName)).definition)
  }

  async #refuseUnagreed(
    tx: SiteTx,
    changes: DefinitionPlan['changes'],
    agreed: readonly string[],
  ): Promise<void> {
    if (confirmationError(changes, agreed) === undefined) return
    const names = deletionsIn(changes).flatMap(({ section, name }) =>
      section === 'resources' ? [name] : [],
    )
    const contents = await this.#deps.resources.contents(tx, names)
    const refusal = confirmationError(changes, agreed, contents)
    if (refusal) throw refusal
  }

  /** The caller has locked the site: a worker that looks for work now waits until this has committed. */
  async #enqueue(tx: SiteTx, definition: ParsedDefinition, order: NewJobRequest): Promise<string> {
    const { sealed, queue, clock, ids, definitions } = this.#deps
    const waiting = await countOpenJobs(tx)
    if (waiting >= MAX_OPEN_JOBS) throw tooMany()
    const { confirm, stepUp, ...job } = order
    const plan = await definitions.plan(tx, definition, order.mode)
    // What is wrong now may be right after the jobs that wait: then it is found out at its turn.
    if (waiting === 0) throwFaults(plan.faults)
    if (order.mode !== 'plan' && mayChangeVariables(definition, plan, waiting)) stepUp('setsSecret')
    const agreed = agreedTo(confirm, plan)
    if (order.mode === 'replace') await this.#refuseUnagreed(tx, plan.changes, agreed)
    const jobId = ids.named('iac')
    const now = clock.now()
    const text = await sealed.seal(tx, jobId, definition)
    await insertIacJob(tx, { ...job, jobId, agreed, sealed: text }, now)
    await deleteOldJobs(tx, KEPT_JOBS, new Date(now.getTime() - KEPT_DAYS * DAY_MS))
    const { siteId } = tx
    await queue.enqueue(tx, 'iac-job', { siteId }, { singletonKey: siteId })
    return jobId
  }
}

/** Against what the site has; behind other jobs, which may change that, whatever names variables. */
const mayChangeVariables = (
  definition: ParsedDefinition,
  { changes }: DefinitionPlan,
  waiting: number,
): boolean =>
  waiting > 0
    ? definition.has('envVars')
    : changes.some(({ section, action }) => section === 'envVars' && action !== 'none')

/** `true` agrees to what would go now, whatever is added before the job's turn. */
const agreedTo = (confirm: NewJobRequest['confirm'], { changes }: DefinitionPlan): string[] => {
  if (confirm === false) return []
  return (confirm === true ? deletionsIn(changes) : confirm).map(deletionKey)
}

function checkCombination(request: IacRequest): void {
  const { definition, definitionProfileName, persistDefinition } = request
  if (definition === undefined && definitionProfileName === undefined) throw definitionMissing()
  if (persistDefinition !== true) return
  if (definition === undefined) {
    throw invalid('persistDefinition', 'saves an inline "definition": give one, or leave this out')
  }
  if (definitionProfileName === undefined) {
    throw invalid('definitionProfileName', 'is required with "persistDefinition": name the profile')
  }
}

const definitionMissing = (): AppError =>
  invalid('definition', 'is required, or the name of a kept one in "definitionProfileName"')

const tooMany = (): AppError =>
  new AppError(
    'TooManyRequests',
    `At most ${MAX_OPEN_JOBS} infrastructure jobs of a site wait or run at a time: try again when one has ended`,
    { retryAfterSeconds: 5, fields: { limit: MAX_OPEN_JOBS } },
  )
