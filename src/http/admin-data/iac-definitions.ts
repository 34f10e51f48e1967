import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { auditAs } from '#http/audited.ts'
import { definitionBody } from '#http/bodies/request-body.ts'
import { PageOf, PageQuery, answerList } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { ProfileName } from '#runtime/iac/model.ts'

import { Done, done } from './views.ts'

const ProfilePath = Type.Object({ profileName: NameText })
const NewProfilePath = Type.Object({ profileName: ProfileName })

const PutDefinition = ClosedObject({
  definition: Type.Unknown(),
  overwriteDefinition: Type.Optional(Type.Boolean()),
})

const ProfileView = Type.Object({ profileName: Type.String(), definition: Type.Unknown() })
const ListedProfileView = Type.Object({ profileName: Type.String(), updatedAt: Type.Date() })

/** Definitions that a site keeps by name. The values of secrets are not in them. */
export const iacDefinitionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/iac/definitions' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const asked = { scope: [site.siteId, 'iac-definitions'], query }
        const profiles = await context.definitionProfiles.list(site.siteId)
        return answerList(context, asked, profiles, ({ profileName }) => profileName)
      },
      {
        role: 'admin',
        summary: 'List stored definitions',
        query: PageQuery,
        response: PageOf(ListedProfileView),
      },
    )
    .get(
      '/:profileName',
      async ({ site, params }) => context.definitionProfiles.get(site.siteId, params.profileName),
      {
        role: 'admin',
        summary: 'Get a stored definition',
        params: ProfilePath,
        response: ProfileView,
      },
    )
    .put(
      '/:profileName',
      async ({ site: { siteId }, by, params: { profileName }, body }) =>
        context.definitionProfiles.put(siteId, profileName, body, auditAs(context, by)),
      {
        role: 'admin',
        summary: 'Create or replace a stored definition',
        errors: ['DefinitionExists'],
        changes: { audit: ['definition.saved'], effects: [] },
        requestBody: definitionBody(),
        params: NewProfilePath,
        body: PutDefinition,
        response: ProfileView,
      },
    )
    .delete(
      '/:profileName',
      async ({ site: { siteId }, by, params: { profileName } }) =>
        done(context.definitionProfiles.remove(siteId, profileName, auditAs(context, by))),
      {
        role: 'admin',
        summary: 'Delete a stored definition',
        changes: { audit: ['definition.removed'], effects: [] },
        params: ProfilePath,
        response: Done,
      },
    )
