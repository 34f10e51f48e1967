import type { SiteTx } from '#platform/postgres/database.ts'
import type { SiteIdentity } from '#platform/sandbox-host/call.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import type { OpenEnvVar } from '#runtime/env-vars/model.ts'
import type { Redaction } from '#runtime/env-vars/redaction.ts'
import type { Secret } from '#runtime/env-vars/secret-matcher.ts'
import type { SyncState } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import { notProvisioned } from './provisioning.ts'
import { type PublishedSite, atVersions, publishedSite } from './published-site.ts'
import { parseRevision } from './revision-document.ts'

export interface ReadPublishedDeps extends Pick<PlatformServices, 'database'> {
  readonly revisions: Revisions
  /** The version of every operation of the site, by name. */
  operationVersions(tx: SiteTx): Promise<ReadonlyMap<string, string>>
  readonly envVars: EnvVars
  /** Learns what calls may see before any of them begins. */
  readonly redaction: Redaction
}

/** The current revision of a site, or why there is none. Of the revision that is `kept` only the versions are read again. */
export async function readPublished(
  deps: ReadPublishedDeps,
  site: SiteIdentity,
  kept: PublishedSite | undefined,
): Promise<PublishedSite | ReturnType<typeof notProvisioned>> {
  const { database, revisions, envVars, redaction } = deps
  const found = await database.withSite(site.siteId, async (tx) => {
    const state = await revisions.state(tx)
    if (kept && isCurrent(kept, state)) {
      return atVersions(kept, site.domain, await deps.operationVersions(tx))
    }
    const stored = state && (await revisions.current(tx))
    const current = stored && parseRevision(stored)
    if (current) {
      return {
        current,
        versions: await deps.operationVersions(tx),
        env: await envVars.unseal(tx, current.document.env),
      }
    }
    const unreadable = typeof state?.currentRevision === 'number'
    // There is no revision yet, or the current one is in another version's format: request one now.
    if (!state || (unreadable && state.synced >= state.requested)) await revisions.request(tx)
    return notProvisioned(state, unreadable)
  })
  if (!('current' in found)) return found
  redaction.addSecrets(site.siteId, secretsOf(found.env))
  return publishedSite(site, found.current, found)
}

const isCurrent = (kept: PublishedSite, state: SyncState | undefined): boolean =>
  kept.revision === state?.currentRevision

const secretsOf = (env: ReadonlyMap<string, OpenEnvVar>): Secret[] =>
  [...env].flatMap(([name, { value, secret }]) => (secret ? [{ name, value }] : []))
