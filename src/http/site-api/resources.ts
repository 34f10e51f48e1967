import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '#context'
import { OperationView, operationView } from '#http/admin-data/operation-view.ts'
import { ResourceView } from '#http/admin-data/resources.ts'
import { PermissionsSyncView, viewOf } from '#http/admin-data/views.ts'
import { type Asked, PageQuery, pageRequest } from '#http/paging.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { shownConfig } from '#runtime/resources/config.ts'
import type { Resource } from '#runtime/resources/model.ts'

const RuntimeView = Type.Object({
  resources: Type.Array(ResourceView),
  operations: Type.Array(OperationView),
  permissionsSync: PermissionsSyncView,
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

/** What a site's operations depend on, and the operations. */
export const runtimeRoutes = siteFamily(
  { site: '/admin/data/resources', operator: '/resources' },
  (routes, context) =>
    routes.get(
      '/',
      async ({ site, pageScope, query }) =>
        runtimeView(context, site.siteId, { scope: [...pageScope, 'resources'], query }),
      { role: 'admin', summary: 'List resources', query: PageQuery, response: RuntimeView },
    ),
)

async function runtimeView(
  { permissionSync, pageTokens }: AppContext,
  siteId: string,
  asked: Asked,
): Promise<Static<typeof RuntimeView>> {
  const page = pageRequest({ pageTokens }, asked)
  const overview = await permissionSync.overview(siteId, page)
  const { resources, operations, permissionsSync, lastKey } = overview
  return {
    resources: resources.map((resource) =>
      viewOf(ResourceView, { ...resource, config: listedConfig(resource) }),
    ),
    operations: operations.map((operation) => operationView(operation, permissionsSync)),
    permissionsSync,
    nextToken: pageTokens.seal(asked.scope, lastKey),
  }
}

/** A list of functions would be as long as all their code: it gives the length instead. */
function listedConfig(resource: Resource): object {
  if (resource.type !== 'lambdaFunction' || resource.config.code === undefined) {
    return shownConfig(resource)
  }
  const { code, ...rest } = resource.config
  return { ...rest, codeBytes: Buffer.byteLength(code) }
}
