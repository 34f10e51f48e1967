import { type Static, Type } from '@sinclair/typebox'

import type { Actor } from '#base/actor.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { Audit, AuditDetail } from '#platform/postgres/audit.ts'

/** Everything about accounts that someone may have to look up later. */
export const SECURITY_EVENTS = [
  'sign-up.requested',
  'sign-up.confirmed',
  'sign-in.succeeded',
  'sign-in.failed',
  'sign-in.blocked',
  'sign-out',
  'session.revoked',
  'sessions.revoked',
  'code.failed',
  'password.reset-requested',
  'password.reset',
  'password.changed',
  'password.added',
  'second-factor.enabled',
  'second-factor.disabled',
  'second-factor.failed',
  'recovery-code.used',
  'recovery-codes.created',
  'passkey.added',
  'passkey.removed',
  'provider.sign-up',
  'provider.linked',
  'provider.unlinked',
  'provider.refused',
  'authorization-code.replayed',
  'refresh-token.replayed',
  'token.revoked',
  'invite.sent',
  'invite.redeemed',
  'user.created',
  'user.deleted',
  'user.changed',
  'user.disabled',
  'user.enabled',
  'user.deletion-begun',
  'user.restored',
  'role.changed',
  'group.created',
  'group.changed',
  'group.renamed',
  'group.deleted',
  'group.member-added',
  'group.member-removed',
  'branding.changed',
  'settings.changed',
  'site.created',
  'site.changed',
  'keys.rotated',
  'token.minted',
  'deploy-token.created',
  'deploy-token.ended',
  'deploy-webhook.created',
  'deploy-webhook.ended',
  'client.registered',
  'client.changed',
  'client.secret-rotated',
  'client.removed',
  'consent.given',
  'consent.withdrawn',
  'mailbox.created',
  'mailbox.owners-changed',
  'mailbox.disabled',
  'mailbox.restored',
  'mailbox.purged',
  'mail-suppression.removed',
  'mail.reparse-started',
  'mailbox.settings-changed',
  'messages.purged',
  'alias.changed',
  'alias.deleted',
  'contact-recipients.added',
  'contact-recipients.removed',
  'mail-credential.created',
  'mail-credential.removed',
  'mail-forwarding.changed',
  'mail-forwarding.targets-added',
  'mail-forwarding.targets-removed',
  'mail-forwarding.verified',
  'dkim.rotated',
  'dkim.activated',
  'deployment.activated',
  'operation.created',
  'operation.changed',
  'operation.deleted',
  'operation.profiled',
  'job.created',
  'job.changed',
  'job.deleted',
  'job.started',
  'resource.created',
  'resource.changed',
  'resource.deleted',
  'env-vars.changed',
  'compute.executed',
  'definition.submitted',
  'definition.cancelled',
  'definition.exported',
  'definition.saved',
  'definition.removed',
  'site.exported',
  'site.imported',
] as const
export type SecurityEventName = (typeof SECURITY_EVENTS)[number]

/** Records what a service changes, as done by one actor. */
export type SiteAudit = Audit<SecurityEventName>

/** What strangers and visitors can make happen as often as they like: it must not crowd out the rest. */
export const FREQUENT_EVENTS: readonly SecurityEventName[] = [
  'sign-up.requested',
  'sign-up.confirmed',
  'sign-in.succeeded',
  'sign-in.failed',
  'sign-in.blocked',
  'sign-out',
  'session.revoked',
  'code.failed',
  'second-factor.failed',
  'password.reset-requested',
  'provider.refused',
  'authorization-code.replayed',
  'refresh-token.replayed',
  'token.revoked',
  'consent.given',
  'consent.withdrawn',
]

export const RETENTION_DAYS = 400
/** Newest events of a site among which even the frequent ones stay. */
export const KEPT_EVENTS = 200_000

/** Never carries a password, token, code or link. */
export interface SecurityEvent {
  readonly event: SecurityEventName
  readonly pool?: PoolKind | undefined
  /** The user that it is about. */
  readonly sub?: string | undefined
  readonly email?: string | undefined
  /** Who did it, when it was not the user: an admin's `sub`, or `operator`. */
  readonly actor?: string | undefined
  /** The same, with where they called from. */
  readonly by?: Actor | undefined
  readonly clientId?: string | undefined
  readonly origin?: RequestOrigin | undefined
  readonly detail?: AuditDetail
}

const OrNull = Type.Union([Type.String(), Type.Null()])

/** An event as it is read back; absent is null. */
export const SecurityEventRecord = Type.Object(
  {
    eventId: Type.String(),
    at: Type.Date(),
    event: Type.String(),
    pool: OrNull,
    sub: OrNull,
    email: OrNull,
    actor: OrNull,
    clientId: OrNull,
    address: OrNull,
    userAgent: OrNull,
    requestId: OrNull,
    detail: Type.Unknown(),
  },
  { title: 'AuditEvent' },
)
export type SecurityEventRecord = Static<typeof SecurityEventRecord>

/** What a reader of the trail wants to see; absent means all. */
export interface SecurityEventFilter {
  readonly event?: SecurityEventName | undefined
  readonly sub?: string | undefined
  readonly email?: string | undefined
  /** Inclusive. */
  readonly since?: Date | undefined
  /** Exclusive. */
  readonly until?: Date | undefined
}
