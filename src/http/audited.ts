import type { AppContext } from '#context'
import type { ActorContext } from '#identity/actor.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvent, SiteAudit } from '#identity/security-events/model.ts'

/** Records what a service changes as done by the admin who calls. */
export const audited = (
  context: Pick<AppContext, 'securityEvents'>,
  { actor, origin }: ActorContext,
): SiteAudit => auditedAs(context, { actor: actor.userId, origin })

/** The same for the operator or a deploy token. */
export const auditedAs =
  (
    { securityEvents }: Pick<AppContext, 'securityEvents'>,
    { actor, origin }: { readonly actor: string; readonly origin: RequestOrigin },
  ): SiteAudit =>
  (tx, { event, detail }) =>
    securityEvents.record(tx, { event, pool: 'admin', actor, origin, detail })

/** Puts something into the trail that changes no row, before it is done. */
export const noteWho = (
  { securityEvents }: Pick<AppContext, 'securityEvents'>,
  siteId: string,
  { actor, origin }: ActorContext,
  { event, detail = {} }: Pick<SecurityEvent, 'event' | 'detail'>,
): Promise<void> =>
  securityEvents.note(siteId, { event, pool: 'admin', actor: actor.userId, origin, detail })
