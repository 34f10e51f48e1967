import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import {
  BUCKET_CONTENT,
  type ContentActions,
  TABLE_CONTENT,
  unknownAction,
} from '#http/admin-data/resource-actions.ts'
import { RuntimeView, runtimeView } from '#http/admin-data/resources.ts'
import { PageQuery } from '#http/paging.ts'
import { NameText, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'

const ResourcePath = Type.Composite([SitePath, Type.Object({ resourceId: NameText })])
const ActionPath = Type.Composite([ResourcePath, Type.Object({ action: Type.String() })])

/** What a site's operations stand on, as its admins see it under `/admin/data/resources`. */
export const portalResourceRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/resources' })
    .use(operatorAuth(context))
    .get('/', async ({ site, query }) => runtimeView(context, site.siteId, query), {
      siteOperator: true,
      params: SitePath,
      query: PageQuery,
      response: RuntimeView,
    })

/** The items of a table, as the site's admins work with them. */
export const portalTableContentRoutes = (context: AppContext) =>
  contentRoutes(context, TABLE_CONTENT)

/** The objects of a bucket, likewise. */
export const portalBucketContentRoutes = (context: AppContext) =>
  contentRoutes(context, BUCKET_CONTENT)

function contentRoutes<Action extends string>(
  context: AppContext,
  content: ContentActions<Action>,
) {
  const routes = new Elysia({
    prefix: `/portal/api/sites/:siteId/resources/:resourceId/${content.path}`,
  }).use(operatorAuth(context))
  for (const action of content.actions) {
    routes.post(
      `/${action}`,
      async ({ site: { siteId }, params, body }) => {
        const resource = await context.resources.get(siteId, params.resourceId)
        return content.perform(context, { siteId, resource }, action, body)
      },
      {
        siteOperator: true,
        changes: { audit: 'content', effects: [] },
        requestBody: content.bodyOf(action),
        params: ResourcePath,
        body: Type.Unknown(),
        response: content.answers[action],
      },
    )
  }
  return routes.post('/:action', ({ params }): never => unknownAction(content, params.action), {
    siteOperator: true,
    changes: { audit: 'content', effects: [] },
    params: ActionPath,
    body: Type.Unknown(),
    responds: 'refusal',
  })
}
