import { AppError } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import { readActivations } from './activation-log.ts'
import { fileChanges } from './activation-record.ts'
import type { Artifacts } from './artifacts.ts'
import type { DefinitionDiff, DeploymentChanges } from './deployment-changes.ts'
import { existingDeployment, existingSite } from './deployment-rows.ts'
import {
  type DeploymentRecord,
  type DeploymentRow,
  type DeploymentSummaryRow,
  deploymentRecord,
  storedFiles,
} from './model.ts'
import { type DeploymentKey, selectDeployment, selectDeployments } from './queries.ts'

const DEFINITION_FILE = 'croft.json'

/** What a site ran and runs. */
export class DeploymentHistory {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly artifacts: Artifacts
    readonly definitionDiff: DefinitionDiff
  }) {
    this.#deps = deps
  }

  get(siteId: string, deploymentId: string): Promise<DeploymentRecord> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const site = await existingSite(tx)
      const row = await existingDeployment(tx, deploymentId)
      const activations = await readActivations(tx, [deploymentId])
      return deploymentRecord(row, site.current_deployment_id, activations.get(deploymentId) ?? [])
    })
  }

  async current(siteId: string): Promise<DeploymentRecord | undefined> {
    const site = await this.#deps.database.withSite(siteId, (tx) => existingSite(tx))
    const { current_deployment_id: currentId } = site
    return currentId === null ? undefined : this.get(siteId, currentId)
  }

  /** Newest first. */
  list(siteId: string, page: PageRequest): Promise<PageRows<DeploymentRecord>> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const site = await existingSite(tx)
      const after = page.after === undefined ? undefined : keyFromText(page.after)
      const rows = await selectDeployments(tx, { limit: page.limit + 1, after })
      const { items, lastKey } = pageRows(rows, page.limit, textOfKey)
      const ids = items.map((row) => row.deployment_id)
      const activations = await readActivations(tx, ids)
      const records = items.map((row) =>
        deploymentRecord(row, site.current_deployment_id, activations.get(row.deployment_id) ?? []),
      )
      return { items: records, lastKey }
    })
  }

  /** What a deployment changed against the one that it replaced last. Throws `DeploymentRemoved` when either is gone. */
  async changes(siteId: string, deploymentId: string): Promise<DeploymentChanges> {
    const { before, after } = await this.#deps.database.withSite(siteId, (tx) =>
      compared(tx, deploymentId),
    )
    return {
      replacedDeploymentId: before?.deployment_id ?? null,
      files: fileChanges(before ? storedFiles(before.files) : [], storedFiles(after.files)),
      definition: this.#deps.definitionDiff(
        before && (await this.#definition(siteId, before)),
        await this.#definition(siteId, after),
      ),
    }
  }

  async #definition(siteId: string, row: DeploymentRow): Promise<string | undefined> {
    const file = storedFiles(row.files).filter(({ path }) => path === DEFINITION_FILE)
    return (await this.#deps.artifacts.textsOf(siteId, file)).get(DEFINITION_FILE)
  }
}

/** The deployment and what it replaced last, or would replace now; undefined where it is the first. */
async function compared(
  tx: SiteTx,
  deploymentId: string,
): Promise<{ readonly before: DeploymentRow | undefined; readonly after: DeploymentRow }> {
  const site = await existingSite(tx)
  const after = withFiles(await existingDeployment(tx, deploymentId), deploymentId)
  const [newest] = (await readActivations(tx, [deploymentId])).get(deploymentId) ?? []
  const beforeId = newest ? newest.replacedDeploymentId : site.current_deployment_id
  if (beforeId === null) return { before: undefined, after }
  return { before: withFiles(await selectDeployment(tx, beforeId), beforeId), after }
}

function withFiles(row: DeploymentRow | undefined, deploymentId: string): DeploymentRow {
  if (row && row.status !== 'removed') return row
  throw new AppError(
    'DeploymentRemoved',
    `The files of deployment "${deploymentId}" are no longer kept, so there is nothing to compare`,
  )
}

const textOfKey = (row: DeploymentSummaryRow): string =>
  `${row.created_at.getTime()} ${row.deployment_id}`

function keyFromText(text: string): DeploymentKey {
  const [createdMs = '', deploymentId = ''] = text.split(' ')
  return { createdAt: new Date(Number(createdMs)), deploymentId }
}
