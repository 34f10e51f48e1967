import { setTimeout as delay } from 'node:timers/promises'

import { type Static, Type } from '@sinclair/typebox'

import type { Invocation } from './command.ts'
import { definitionError, waitForDefinition } from './definition-progress.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const SYNC_MS = 60_000
const SYNC_POLL_MS = 150

const SiteRuntime = Type.Object({
  siteId: Type.String(),
  domain: Type.String(),
  permissionsSync: Type.Object({ status: Type.String(), error: Type.Optional(Type.String()) }),
})
type SiteRuntime = Static<typeof SiteRuntime>

/** By domain or id; what a holder of a deploy token may know of a site. */
export const readRuntime = (service: ServiceClient, site: string): Promise<SiteRuntime> =>
  service.portalAs(SiteRuntime, 'GET', sitePath(site, '/runtime'))

/** Waits until the permission sync has ended, for a minute at most, and returns its state. */
export async function waitForSync({ service }: Invocation, siteId: string) {
  const deadline = Date.now() + SYNC_MS
  for (;;) {
    const { permissionsSync } = await readRuntime(service, siteId)
    const moving = permissionsSync.status === 'queued' || permissionsSync.status === 'running'
    if (!moving || Date.now() > deadline) return permissionsSync
    await delay(SYNC_POLL_MS)
  }
}

/** Returns why the runtime does not run the site as it is defined, or undefined when it does. */
export const syncFault = ({ status, error }: SiteRuntime['permissionsSync']): string | undefined =>
  status === 'succeeded' ? undefined : `the runtime says: ${error ?? status}`

/** Waits until the runtime runs what was just activated. `fault` says why it does not. */
export async function waitForDeployment(call: Invocation, siteId: string, deploymentId: string) {
  call.progress('Waiting for the runtime to take it over…')
  const definition = await waitForDefinition(call, siteId, deploymentId)
  const permissionsSync = await waitForSync(call, siteId)
  const fault = definitionError(definition) ?? syncFault(permissionsSync)
  return { definition, permissionsSync, fault }
}
