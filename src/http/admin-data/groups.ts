import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PageOf, PageQuery, pageAnswer, pageRequest } from '#http/page-query.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { DataGroup, NewDataGroup } from '#identity/groups/model.ts'

import { Done, NameText } from './views.ts'

const GroupPath = Type.Object({ groupName: NameText })

/** Groups of a site's visitors, which operations in mode `groups` ask for. */
export const groupRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/groups' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const scope = [site.siteId, 'groups']
        const page = pageRequest(context, scope, query)
        return pageAnswer(context, scope, await context.dataGroups.list(site, page))
      },
      { role: 'admin', query: PageQuery, response: PageOf(DataGroup) },
    )
    .post(
      '/',
      ({ site, actor, request, body }) =>
        context.dataGroups.create(site, body, { actor, origin: originOf(request) }),
      { role: 'admin', body: NewDataGroup, response: DataGroup },
    )
    .delete(
      '/:groupName',
      async ({ site, actor, request, params }) => {
        const by = { actor, origin: originOf(request) }
        await context.dataGroups.remove(site, params.groupName, by)
        return { ok: true as const }
      },
      { role: 'admin', params: GroupPath, response: Done },
    )
