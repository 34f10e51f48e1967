import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { UserPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { OwnProfileChange, ProfileChange, activeEmailOf } from '#identity/profiles/model.ts'
import type { ShownProfile } from '#identity/profiles/profiles.ts'
import { ProfileSettings } from '#identity/profiles/settings.ts'

const ProfileFields = {
  userSub: Type.String(),
  primaryEmail: Type.String(),
  activeEmail: Type.String(),
  externalEmail: Type.Union([Type.String(), Type.Null()]),
  settings: ProfileSettings,
  /** The primary address that is to take the place of this one, once its own link was opened. */
  pendingEmail: Type.Optional(Type.String()),
  /** The same, for programs that know it by the earlier name. */
  pendingPrimaryEmail: Type.Optional(Type.String()),
}
const closed = { additionalProperties: false }
const OwnProfile = Type.Object(ProfileFields, closed)
const ChangedProfile = Type.Object({ ...ProfileFields, updatedAt: Type.Date() }, closed)
const UserProfile = Type.Object(
  { ...ProfileFields, createdAt: Type.Date(), updatedAt: Type.Date() },
  closed,
)

/** As it was typed; what a password must have is said by name when it has not. */
const Typed = Type.String({ maxLength: 1024 })
const PasswordBody = Type.Object(
  { currentPassword: Typed, newPassword: Typed },
  { additionalProperties: false },
)

/** Everyone's own profile, and their password: a new one ends every other sign-in. */
export const ownProfileRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/profile' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, actor }) => ownProfile(await context.profiles.get(site, actor.userId)),
      { role: 'user', summary: 'Get your profile', response: OwnProfile },
    )
    .put(
      '/',
      async ({ site, by, actor, body }) =>
        changedProfile(await context.profiles.change(site, by, actor.userId, body)),
      {
        role: 'user',
        summary: 'Change your profile',
        errors: ['UserAlreadyExists'],
        changes: { audit: ['user.changed'], effects: ['movesAccount?'] },
        body: OwnProfileChange,
        response: ChangedProfile,
      },
    )
    .post(
      '/password',
      async ({ site, actor, body }) => {
        const { pool, sub, familyId } = await context.userSessions.ownerOf(site, actor)
        const change = {
          sub,
          oldPassword: body.currentPassword,
          newPassword: body.newPassword,
          keep: familyId === undefined ? undefined : { sessionId: familyId },
        }
        await context.ownPasswords
          .change({ site, pool, origin: actor.origin }, change)
          .catch((error: unknown) => Promise.reject(inFieldsOfBody(error)))
        return noContent()
      },
      {
        role: 'user',
        summary: 'Change your password',
        errors: ['InvalidCredentials', 'InvalidPassword', 'PasswordMissing'],
        changes: {
          audit: ['password.changed', 'sessions.revoked'],
          effects: provenBy('the current password', ['movesAccount']),
        },
        body: PasswordBody,
        responds: 'no-content',
      },
    )

/** The profiles of others. */
export const userProfileRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/users/:userId/profile' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, params }) => {
        const profile = await context.profiles.get(site, params.userId)
        return { ...changedProfile(profile), createdAt: profile.createdAt }
      },
      {
        role: 'admin',
        summary: 'Get the profile of a user',
        params: UserPath,
        response: UserProfile,
      },
    )
    .put(
      '/',
      async ({ site, by, params, body }) =>
        changedProfile(await context.profiles.change(site, by, params.userId, body)),
      {
        role: 'admin',
        summary: 'Change the profile of a user',
        errors: ['UserAlreadyExists'],
        changes: { audit: ['user.changed', 'invite.sent'], effects: ['movesAccount?'] },
        params: UserPath,
        body: ProfileChange,
        response: ChangedProfile,
      },
    )

const ownProfile = (profile: ShownProfile) => ({
  userSub: profile.sub,
  primaryEmail: profile.primaryEmail,
  activeEmail: activeEmailOf(profile),
  externalEmail: profile.externalEmail,
  settings: profile.settings,
  ...(profile.pending !== undefined && {
    pendingEmail: profile.pending,
    pendingPrimaryEmail: profile.pending,
  }),
})

const changedProfile = (profile: ShownProfile) => ({
  ...ownProfile(profile),
  updatedAt: profile.updatedAt,
})

/** The token is good, so a wrong password is no 401: a client would take that for the end of its sign-in. */
function inFieldsOfBody(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const { code, message, cause } = error
  if (code === 'InvalidCredentials') {
    const details = [{ field: 'currentPassword', message: 'is wrong' }]
    return new AppError('InvalidPassword', message, { details, cause })
  }
  if (code !== 'InvalidPassword') return error
  const details = (error.details ?? []).map((fault) => ({ ...fault, field: 'newPassword' }))
  return new AppError('InvalidPassword', message, { details, cause })
}
