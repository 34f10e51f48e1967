import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PageOf, PageQuery, listAnswer } from '#http/page-query.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { ProfileName } from '#runtime/iac/model.ts'

import { Done, NameText } from './views.ts'

const ProfilePath = Type.Object({ profileName: NameText })
const NewProfilePath = Type.Object({ profileName: ProfileName })

const PutDefinition = Type.Object(
  { definition: Type.Unknown(), overwriteDefinition: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
)

const ProfileView = Type.Object({ profileName: Type.String(), definition: Type.Unknown() })
const ListedProfileView = Type.Object({ profileName: Type.String(), updatedAt: Type.String() })

/** Definitions that a site keeps by name. The values of secrets are not in them. */
export const iacDefinitionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/iac/definitions' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const profiles = await context.definitionProfiles.list(site.siteId)
        const items = profiles.map(({ profileName, updatedAt }) => ({
          profileName,
          updatedAt: updatedAt.toISOString(),
        }))
        const scope = [site.siteId, 'iac-definitions']
        return listAnswer(context, scope, query, { items, keyOf: ({ profileName }) => profileName })
      },
      { role: 'admin', query: PageQuery, response: PageOf(ListedProfileView) },
    )
    .get(
      '/:profileName',
      async ({ site, params }) => {
        const profile = await context.definitionProfiles.get(site.siteId, params.profileName)
        return { ...profile }
      },
      { role: 'admin', params: ProfilePath, response: ProfileView },
    )
    .put(
      '/:profileName',
      async ({ site, params, body }) => {
        const profile = await context.definitionProfiles.put(site.siteId, params.profileName, body)
        return { ...profile }
      },
      { role: 'admin', params: NewProfilePath, body: PutDefinition, response: ProfileView },
    )
    .delete(
      '/:profileName',
      async ({ site, params }) => {
        await context.definitionProfiles.remove(site.siteId, params.profileName)
        return { ok: true as const }
      },
      { role: 'admin', params: ProfilePath, response: Done },
    )
