import type { SiteTx } from '#platform/postgres/database.ts'
import type { CurrentDeployment } from '#sites/deployments/artifacts.ts'

/** The code of a site's current deployment. */
export interface DeployedCode {
  /** Text of its code files, by path. Empty without a deployment. */
  codeFiles(siteId: string): Promise<ReadonlyMap<string, string>>
  /** Which deployment is current, for this transaction, and what `textsOf` needs to know of it. */
  current(tx: SiteTx): Promise<CurrentDeployment>
  textsOf(siteId: string, deployment: CurrentDeployment): Promise<ReadonlyMap<string, string>>
  /** Which one it is, for this transaction; null without one. */
  currentDeployment(tx: SiteTx): Promise<string | null>
}
