import { AppError } from './app-error.ts'
import type { StepUp } from './effects.ts'
import type { RequestOrigin } from './request-origin.ts'

export type Role = 'user' | 'admin' | 'super-admin'

/** A signed-in member of a site's admin pool, with the role that the database says they have now. */
export interface UserActor {
  readonly type: 'user'
  /** `sub`. */
  readonly userId: string
  readonly email: string
  readonly role: Role
  /** The sign-in that the token comes from (`origin_jti`); none for a token that the operator minted. */
  readonly familyId?: string | undefined
  /** When they proved who they are: at sign-in, not at a refresh. */
  readonly signedInAt: Date
  readonly origin: RequestOrigin
}

/** The same, for a change whose effects are known once it is looked at. */
export interface StepUpActor extends UserActor {
  readonly stepUp: StepUp
}

export interface OperatorActor {
  readonly type: 'operator'
  readonly origin: RequestOrigin
}

/** A program with a deploy token of the site. */
export interface DeployTokenActor {
  readonly type: 'deployToken'
  readonly tokenId: string
  readonly name: string
  readonly via: 'api' | 'git'
  readonly origin: RequestOrigin
}

/** The owner of the account that is changed. */
interface OwnerActor {
  readonly type: 'owner'
  readonly origin: RequestOrigin
}

/** An actor of which no more than the id is known; it has no role. */
interface KnownActor {
  readonly type: 'known'
  readonly id: string
  readonly origin?: RequestOrigin
}

/** Who does something. */
export type Actor =
  | UserActor
  | OperatorActor
  | DeployTokenActor
  | OwnerActor
  | KnownActor
  | WebhookActor
  | SiteCodeActor
  | SystemActor

/** A forge, by the webhook of the site: what it asks for is carried out later. */
interface WebhookActor {
  readonly type: 'webhook'
}

export const WEBHOOK: WebhookActor = { type: 'webhook' }

/** Functions of the site. */
interface SiteCodeActor {
  readonly type: 'siteCode'
}

export const SITE_CODE: SiteCodeActor = { type: 'siteCode' }

/** The service itself. */
interface SystemActor {
  readonly type: 'system'
}

export const SYSTEM: SystemActor = { type: 'system' }

/** `actorId` of the holder of the operator key. */
export const OPERATOR = 'operator'

const RANK: Record<Role, number> = { user: 0, admin: 1, 'super-admin': 2 }

/** As records of what was done name the actor: a user by `sub`. */
export function actorId(actor: Actor): string {
  switch (actor.type) {
    case 'user':
      return actor.userId
    case 'operator':
      return OPERATOR
    case 'deployToken':
      return `deploy-token:${actor.tokenId}`
    case 'siteCode':
      return 'site-code'
    case 'known':
      return actor.id
    case 'owner':
    case 'webhook':
    case 'system':
      return actor.type
  }
}

/** Where the actor calls from, if it is a request. */
export const originOfActor = (actor: Actor): RequestOrigin | undefined =>
  'origin' in actor ? actor.origin : undefined

/** The operator has the authority of a super-admin: over every mailbox and every admin. Functions may send from each mailbox. */
export function atLeast(actor: Actor, role: Role): boolean {
  if (actor.type === 'user') return RANK[actor.role] >= RANK[role]
  if (actor.type === 'siteCode') return role !== 'super-admin'
  return actor.type === 'operator'
}

/** Only super-admins make, change or remove one. */
export function requireAuthorityOver(actor: Actor, role: Role | null): void {
  if (role === 'super-admin' && !atLeast(actor, 'super-admin')) {
    throw new AppError('Forbidden', 'Only a super-admin may do this to a super-admin')
  }
}
