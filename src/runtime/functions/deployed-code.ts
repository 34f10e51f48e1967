import type { SiteTx } from '#platform/postgres/database.ts'

/** The code of a site's current deployment. */
export interface DeployedCode {
  /** Text of its code files, by path. Empty without a deployment. */
  codeFiles(siteId: string): Promise<ReadonlyMap<string, string>>
  /** Which one it is, for this transaction; null without one. */
  currentDeployment(tx: SiteTx): Promise<string | null>
}
