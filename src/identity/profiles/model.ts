import { isDeepStrictEqual } from 'node:util'

import { type Static, Type } from '@sinclair/typebox'

import type { Role } from '#base/actor.ts'
import { invalid } from '#base/app-error.ts'
import { EmailAddress, OptionalAddress, canonicalEmail } from '#identity/email.ts'
import type { UserStatus } from '#identity/users/model.ts'

import { ProfileSettings, parseProfileSettings } from './settings.ts'

const closed = { additionalProperties: false }

const ProfileFields = {
  primaryEmail: Type.Optional(EmailAddress),
  externalEmail: Type.Optional(OptionalAddress),
  settings: Type.Optional(ProfileSettings),
}

/** What an admin may change about another user; what is left out stays. */
export const ProfileChange = Type.Object(ProfileFields, closed)
export type ProfileChange = Static<typeof ProfileChange>

/** Only its owner chooses the address that is in use. */
export const OwnProfileChange = Type.Object(
  { ...ProfileFields, activeEmail: Type.Optional(EmailAddress) },
  closed,
)
export type OwnProfileChange = Static<typeof OwnProfileChange>

/** What a profile says. */
export interface UserProfile {
  readonly primaryEmail: string
  readonly externalEmail: string | null
  /** Which of the two is in use; without an external address the primary one is. */
  readonly activeAddress: 'primary' | 'external'
  readonly settings: ProfileSettings
}

export interface StoredProfile extends UserProfile {
  readonly userPoolId: string
  readonly sub: string
  readonly status: UserStatus
  readonly role: Role | null
  /** Whether the primary address is verified. */
  readonly emailVerified: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

export const activeEmailOf = ({
  activeAddress,
  externalEmail,
  primaryEmail,
}: UserProfile): string =>
  activeAddress === 'external' && externalEmail !== null ? externalEmail : primaryEmail

/** Where an invitation goes. */
export const recipientOf = ({ externalEmail, primaryEmail }: UserProfile): string =>
  externalEmail ?? primaryEmail

export function changedProfile(current: UserProfile, change: OwnProfileChange): UserProfile {
  const primaryEmail =
    change.primaryEmail === undefined ? current.primaryEmail : canonicalEmail(change.primaryEmail)
  const externalEmail = changedExternal(current.externalEmail, change.externalEmail)
  return {
    primaryEmail,
    externalEmail,
    activeAddress: activeAddressOf({ ...current, primaryEmail, externalEmail }, change.activeEmail),
    settings:
      change.settings === undefined ? current.settings : parseProfileSettings(change.settings),
  }
}

/** The primary address that an account is to have instead of the one that it has. An invited one has proven none yet. */
export function pendingEmailOf(
  { primaryEmail, status }: Pick<StoredProfile, 'primaryEmail' | 'status'>,
  change: OwnProfileChange,
): string | undefined {
  const wanted =
    change.primaryEmail === undefined ? primaryEmail : canonicalEmail(change.primaryEmail)
  return wanted === primaryEmail || status === 'INVITED' ? undefined : wanted
}

/** What may change at once: to use the new address is to use the primary one, which it is to be. */
export function withoutPrimary(
  { primaryEmail }: Pick<UserProfile, 'primaryEmail'>,
  { primaryEmail: wanted, activeEmail, ...rest }: OwnProfileChange,
): OwnProfileChange {
  if (activeEmail === undefined) return rest
  const isWanted = wanted !== undefined && canonicalEmail(activeEmail) === canonicalEmail(wanted)
  return { ...rest, activeEmail: isWanted ? primaryEmail : activeEmail }
}

/** An admin may name an external address; mail about the account goes there once its owner chooses it. */
export const withUnchosenExternal = (before: UserProfile, after: UserProfile): UserProfile =>
  before.externalEmail === after.externalEmail ? after : { ...after, activeAddress: 'primary' }

/** Names of what differs. */
export function changedProfileFields(before: UserProfile, after: UserProfile): readonly string[] {
  const differs = {
    primaryEmail: before.primaryEmail !== after.primaryEmail,
    externalEmail: before.externalEmail !== after.externalEmail,
    activeEmail: activeEmailOf(before) !== activeEmailOf(after),
    settings: !isDeepStrictEqual(before.settings, after.settings),
  }
  return Object.entries(differs)
    .filter(([_name, changed]) => changed)
    .map(([name]) => name)
}

/** Former addresses that do not belong to the profile any more. */
export function replacedAddresses(before: UserProfile, after: UserProfile): readonly string[] {
  const kept = [after.primaryEmail, after.externalEmail]
  const had = [before.primaryEmail, before.externalEmail].filter((address) => address !== null)
  return [...new Set(had)].filter((address) => !kept.includes(address))
}

function changedExternal(current: string | null, change: string | null | undefined): string | null {
  if (change === undefined) return current
  return change === null ? null : canonicalEmail(change)
}

function activeAddressOf(
  { activeAddress, primaryEmail, externalEmail }: UserProfile,
  chosen: string | undefined,
): UserProfile['activeAddress'] {
  if (chosen === undefined) return externalEmail === null ? 'primary' : activeAddress
  const active = canonicalEmail(chosen)
  if (active === primaryEmail) return 'primary'
  if (active === externalEmail) return 'external'
  throw invalid('activeEmail', 'must be the primaryEmail or the externalEmail of the profile')
}
