import { AppError } from '#base/app-error.ts'
import type { StepUp } from '#base/effects.ts'

import type { RequestOrigin } from './request-origin.ts'

export type Role = 'user' | 'admin' | 'super-admin'

/** A signed-in member of a site's admin pool, with the role that the database says they have now. */
export interface Actor {
  /** `sub`. */
  readonly userId: string
  readonly email: string
  readonly role: Role
  /** The sign-in that the token comes from (`origin_jti`); none for a token that the operator minted. */
  readonly familyId?: string | undefined
  /** When they proved who they are: at sign-in, not at a refresh. */
  readonly signedInAt: Date
}

/** Who does something to others' accounts, and from where: an admin, or the operator. */
export interface AuthorityContext {
  readonly actor: Pick<Actor, 'userId' | 'role'>
  readonly origin: RequestOrigin
}

/** The same, of an admin who is signed in. */
export interface ActorContext extends AuthorityContext {
  readonly actor: Actor
}

/** The same, for a change whose effects are known once it is looked at. */
export interface StepUpContext extends ActorContext {
  readonly stepUp: StepUp
}

const RANK: Record<Role, number> = { user: 0, admin: 1, 'super-admin': 2 }

export const atLeast = (actor: Pick<Actor, 'role'>, role: Role): boolean =>
  RANK[actor.role] >= RANK[role]

/** Nobody below a super-admin makes, changes or removes one. */
export function requireAuthorityOver(actor: Pick<Actor, 'role'>, role: Role | null): void {
  if (role === 'super-admin' && !atLeast(actor, 'super-admin')) {
    throw new AppError('Forbidden', 'Only a super-admin may do this to a super-admin')
  }
}
