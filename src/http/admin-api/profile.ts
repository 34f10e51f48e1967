import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { NameText } from '#http/admin-data/views.ts'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import {
  OwnProfileChange,
  ProfileChange,
  type StoredProfile,
  activeEmailOf,
} from '#identity/profiles/model.ts'
import { ProfileSettings } from '#identity/profiles/settings.ts'

const UserPath = Type.Object({ userId: NameText })

const ProfileFields = {
  userSub: Type.String(),
  primaryEmail: Type.String(),
  activeEmail: Type.String(),
  externalEmail: Type.Union([Type.String(), Type.Null()]),
  settings: ProfileSettings,
}
const closed = { additionalProperties: false }
const OwnProfile = Type.Object(ProfileFields, closed)
const ChangedProfile = Type.Object({ ...ProfileFields, updatedAt: Type.String() }, closed)
const UserProfile = Type.Object(
  { ...ProfileFields, createdAt: Type.String(), updatedAt: Type.String() },
  closed,
)

/** Everyone's own profile. */
export const ownProfileRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/profile' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, actor }) => ownProfile(await context.profiles.get(site, actor.userId)),
      { role: 'user', response: OwnProfile },
    )
    .put(
      '/',
      async ({ site, actor, request, body }) => {
        const by = { actor, origin: originOf(request) }
        return changedProfile(await context.profiles.change(site, by, actor.userId, body))
      },
      { role: 'user', body: OwnProfileChange, response: ChangedProfile },
    )

/** The profiles of others. */
export const userProfileRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/users/:userId/profile' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, params }) => {
        const profile = await context.profiles.get(site, params.userId)
        return { ...changedProfile(profile), createdAt: profile.createdAt.toISOString() }
      },
      { role: 'admin', params: UserPath, response: UserProfile },
    )
    .put(
      '/',
      async ({ site, actor, request, params, body }) => {
        const by = { actor, origin: originOf(request) }
        return changedProfile(await context.profiles.change(site, by, params.userId, body))
      },
      { role: 'admin', params: UserPath, body: ProfileChange, response: ChangedProfile },
    )

const ownProfile = (profile: StoredProfile) => ({
  userSub: profile.sub,
  primaryEmail: profile.primaryEmail,
  activeEmail: activeEmailOf(profile),
  externalEmail: profile.externalEmail,
  settings: profile.settings,
})

const changedProfile = (profile: StoredProfile) => ({
  ...ownProfile(profile),
  updatedAt: profile.updatedAt.toISOString(),
})
