import type { AppContext } from '#context'
import type { ActorContext } from '#identity/actor.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvent, SecurityEventName } from '#identity/security-events/model.ts'
import type { Audit } from '#platform/postgres/audit.ts'

const by = ({ actor, origin }: ActorContext) =>
  ({ pool: 'admin', actor: actor.userId, origin }) as const

/** Puts what a service tells of a change into the audit trail, as done by whoever asks for it. */
export const audited = (
  context: Pick<AppContext, 'securityEvents'>,
  event: SecurityEventName,
  { actor, origin }: ActorContext,
): Audit => auditedAs(context, event, { actor: actor.userId, origin })

/** The same for the operator. */
export const auditedAs =
  (
    { securityEvents }: Pick<AppContext, 'securityEvents'>,
    event: SecurityEventName,
    { actor, origin }: { readonly actor: string; readonly origin?: RequestOrigin | undefined },
  ): Audit =>
  (tx, detail) =>
    securityEvents.record(tx, { event, pool: 'admin', actor, ...(origin && { origin }), detail })

/** Puts something into the trail that changes no row, before it is done. */
export const noteWho = (
  { securityEvents }: Pick<AppContext, 'securityEvents'>,
  siteId: string,
  who: ActorContext,
  { event, detail = {} }: Pick<SecurityEvent, 'event' | 'detail'>,
): Promise<void> => securityEvents.note(siteId, { event, ...by(who), detail })
