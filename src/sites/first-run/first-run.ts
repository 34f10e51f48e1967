import { type Actor, OPERATOR, SYSTEM } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import type { Database } from '#platform/postgres/database.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import { type ArtifactFolder, scanArtifact } from '#sites/deployments/artifact-folder.ts'
import { parseBuildYml } from '#sites/deployments/build-yml.ts'
import type { DeploymentOrigin, Deployments } from '#sites/deployments/deployments.ts'
import { domainFault } from '#sites/domain.ts'
import type { CreatedSite } from '#sites/model.ts'
import type { Site } from '#sites/site.ts'
import type { Sites } from '#sites/sites.ts'

import { saveProgress, selectProgress, tryLockFirstRun } from './queries.ts'

/** As the audit trail names the actor. */
const BY: Actor = { type: 'known', id: OPERATOR }

const EXAMPLE: DeploymentOrigin = { source: { type: 'folder' }, by: SYSTEM }

/** Mail's side of it. */
interface NewMailboxes {
  create(
    site: Site,
    by: Actor,
    mailbox: { address: string; owners: string[] },
  ): Promise<{ readonly address: string }>
}

export interface FirstRunDeps {
  readonly database: Database
  readonly sites: Pick<Sites, 'create' | 'delete' | 'find' | 'list'>
  readonly deployments: Pick<Deployments, 'deployFolder'>
  /** The base URL of the installation, whose host becomes the site's domain. */
  readonly baseUrl: string
  /** The folder of the example that the site is made from. */
  readonly exampleDir: string
  readonly mailboxes: NewMailboxes
  /** Resolves when the runtime serves the deployment or has given up. */
  readonly waitForRuntime: (siteId: string) => Promise<void>
}

export interface FirstRunResult {
  readonly siteId: string
  readonly domain: string
  /** The base URL of the site. */
  readonly baseUrl: string
  /** The address of its first mailbox. */
  readonly mailbox: string
  readonly onboarding: readonly { readonly email: string; readonly url: string }[]
  /** Why the example could not be deployed, if so; the site exists in either case. */
  readonly fault: string | undefined
}

/**
 * Makes the first site of an empty installation, with the example in it. Undefined when there is nothing to do: the
 * installation has sites already, or another replica is at it. A run that was killed in the middle is started over by
 * the next one, because the onboarding link it had made is nowhere to be read; so is one that met a fault that `willPass`.
 */
export function firstRun(deps: FirstRunDeps): Promise<FirstRunResult | undefined> {
  const { database } = deps
  // This transaction only holds the lock; every step commits by itself.
  return database.withDirectory(async (lock) => {
    if (!(await tryLockFirstRun(lock))) return undefined
    const progress = await database.withDirectory(selectProgress)
    if (progress?.state === 'done') return undefined
    const domain = domainOf(deps.baseUrl)
    if (progress === undefined && !(await isEmpty(deps))) {
      await database.withDirectory((tx) => saveProgress(tx, { state: 'done', domain }))
      return undefined
    }
    if (progress !== undefined) await discardHalf(deps, progress.domain)
    await database.withDirectory((tx) => saveProgress(tx, { state: 'started', domain }))
    const result = await createFirstSite(deps, domain)
    await database.withDirectory((tx) => saveProgress(tx, { state: 'done', domain }))
    return result
  })
}

/** An address cannot be a domain: then the site is found under `localhost`. */
function domainOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  return domainFault(hostname) === undefined ? hostname : 'localhost'
}

async function isEmpty({ sites }: FirstRunDeps): Promise<boolean> {
  const { items } = await sites.list({ limit: 1, after: undefined })
  return items.length === 0
}

async function discardHalf({ sites }: FirstRunDeps, domain: string): Promise<void> {
  try {
    const { siteId } = await sites.find(domain)
    await sites.delete(siteId)
  } catch (error) {
    if (error instanceof AppError && error.code === 'SiteNotFound') return
    throw error
  }
}

async function createFirstSite(deps: FirstRunDeps, domain: string): Promise<FirstRunResult> {
  const artifact = await scanArtifact(deps.exampleDir)
  const { artifactDirectory } = parseBuildYml(artifact.buildYml)
  const admin = `admin@${domain}`
  const site = await deps.sites.create({
    domain,
    repoBinding: { artifactDirectory },
    superAdmins: [admin],
  })
  const mailbox = { address: `hello@${domain}`, owners: [admin] }
  const { address } = await deps.mailboxes.create(site, BY, mailbox)
  const fault = await deploy(deps, site, artifact)
  await deps.waitForRuntime(site.siteId)
  return {
    siteId: site.siteId,
    domain,
    baseUrl: siteBaseUrl(deps.baseUrl, domain),
    mailbox: address,
    onboarding: site.onboarding,
    fault,
  }
}

/** Whether a retry of the run can succeed: a part is away, or a disk is full. */
export const willPass = (error: unknown): boolean =>
  hasCode(error, 'ServiceUnavailable', 'DiskFull')

/** What is wrong with the example must not keep the service from starting. */
async function deploy(
  { deployments }: FirstRunDeps,
  { siteId }: CreatedSite,
  artifact: ArtifactFolder,
): Promise<string | undefined> {
  try {
    await deployments.deployFolder(siteId, EXAMPLE, artifact)
    return undefined
  } catch (error) {
    if (error instanceof AppError && !willPass(error)) return error.message
    throw error
  }
}
