import type { PoolKind } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'

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
  'provider.sign-up',
  'provider.linked',
  'provider.refused',
  'authorization-code.replayed',
  'refresh-token.replayed',
  'token.revoked',
  'invite.sent',
  'invite.redeemed',
  'user.created',
  'user.deleted',
  'user.changed',
  'role.changed',
  'group.created',
  'group.deleted',
  'group.member-added',
  'group.member-removed',
  'branding.changed',
  'settings.changed',
  'keys.rotated',
  'token.minted',
] as const
export type SecurityEventName = (typeof SECURITY_EVENTS)[number]

/** `actor` of what came over the portal. */
export const OPERATOR = 'operator'

/** Never carries a password, token, code or link. */
export interface SecurityEvent {
  readonly event: SecurityEventName
  readonly pool?: PoolKind | undefined
  /** Whom it is about. */
  readonly sub?: string | undefined
  readonly email?: string | undefined
  /** Who did it, when it was not the user: an admin's `sub`, or `operator`. */
  readonly actor?: string | undefined
  readonly clientId?: string | undefined
  readonly origin?: RequestOrigin | undefined
  readonly detail?: Readonly<Record<string, string | number | boolean>>
}
