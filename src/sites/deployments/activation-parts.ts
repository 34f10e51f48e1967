/** What the layers above do when a deployment becomes a site's current one. */
export interface ActivationParts {
  /** Runs after the commit, and again when the same deployment is activated again: it must be idempotent. */
  activated(siteId: string, deploymentId: string): Promise<void>
  /** Another deployment could not be activated, and the one before it is current again: its files are served, and no more. */
  tookBack(siteId: string): Promise<void>
}
