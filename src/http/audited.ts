import type { Actor } from '#base/actor.ts'
import type { AppContext } from '#context'
import type { SecurityEvent, SiteAudit } from '#identity/security-events/model.ts'

/** Records what a service changes as done by that actor. */
export const auditAs =
  ({ securityEvents }: Pick<AppContext, 'securityEvents'>, by: Actor): SiteAudit =>
  (tx, { event, detail }) =>
    securityEvents.record(tx, { event, pool: 'admin', by, detail })

/** Puts something into the trail that changes no row, before it is done. */
export const recordAudit = (
  { securityEvents }: Pick<AppContext, 'securityEvents'>,
  siteId: string,
  by: Actor,
  { event, detail = {} }: Pick<SecurityEvent, 'event' | 'detail'>,
): Promise<void> => securityEvents.note(siteId, { event, pool: 'admin', by, detail })
