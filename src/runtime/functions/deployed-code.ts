import type { SiteTx } from '#platform/postgres/database.ts'
import type { CurrentCode } from '#sites/deployments/artifacts.ts'

/** The code of a site's current deployment. */
export interface DeployedCode {
  /** Text of its code files, by path. Empty without a deployment. */
  codeFiles(siteId: string): Promise<ReadonlyMap<string, string>>
  currentCode(siteId: string): Promise<CurrentCode>
  /** Which one it is, for this transaction; null without one. */
  currentDeployment(tx: SiteTx): Promise<string | null>
}
