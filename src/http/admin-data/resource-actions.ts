import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { type RequestBody, itemsBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { resourceAuth } from '#http/plugins/resource-auth.ts'
import { BUCKET_ACTIONS, BUCKET_ANSWERS, type BucketAction } from '#runtime/buckets/answers.ts'
import type { Bucket } from '#runtime/buckets/bucket.ts'
import type { Resource } from '#runtime/resources/model.ts'
import { TABLE_ACTIONS, TABLE_ANSWERS, type TableAction } from '#runtime/tables/api/answers.ts'
import type { Table } from '#runtime/tables/table.ts'

/** An object of 6 MiB as base64, and its envelope. */
const MAX_OBJECT_JSON_BYTES = 8 * 1024 * 1024 + 64 * 1024

const ResourcePath = Type.Object({ resourceId: NameText })
const ActionPath = Type.Object({ resourceId: NameText, action: Type.String() })

/** The actions on the content of one type of resource, wherever they are mounted. */
export interface ContentActions<Action extends string> {
  /** Below a resource: `data/ddb`. */
  readonly path: string
  readonly noun: string
  readonly actions: readonly Action[]
  readonly answers: Readonly<Record<Action, TSchema>>
  readonly bodyOf: (action: Action) => RequestBody
  readonly perform: (
    context: AppContext,
    on: { readonly siteId: string; readonly resource: Resource },
    action: Action,
    body: unknown,
  ) => Promise<unknown>
}

/** The items of a table: from the moment the table is created, published or not. */
export const TABLE_CONTENT: ContentActions<TableAction> = {
  path: 'data/ddb',
  noun: 'table',
  actions: TABLE_ACTIONS,
  answers: TABLE_ANSWERS,
  bodyOf: () => itemsBody('optional-json'),
  perform: ({ tables }, { siteId, resource }, action, body) =>
    tables.perform(tableOf(siteId, resource), action, body),
}

/** The objects of a bucket, likewise. */
export const BUCKET_CONTENT: ContentActions<BucketAction> = {
  path: 'data/s3',
  noun: 'bucket',
  actions: BUCKET_ACTIONS,
  answers: BUCKET_ANSWERS,
  bodyOf: (action) => optionalJsonBody(action === 'put-object' ? MAX_OBJECT_JSON_BYTES : undefined),
  perform: ({ buckets }, { siteId, resource }, action, body) =>
    buckets.perform(bucketOf(siteId, resource), action, body),
}

/** The items of a table, as an admin works with them. */
export const tableActionRoutes = (context: AppContext) => actionRoutes(context, TABLE_CONTENT)

/** The objects of a bucket, likewise. */
export const bucketActionRoutes = (context: AppContext) => actionRoutes(context, BUCKET_CONTENT)

function actionRoutes<Action extends string>(context: AppContext, content: ContentActions<Action>) {
  const routes = new Elysia({ prefix: `/admin/data/resources/:resourceId/${content.path}` })
    .use(adminAuth(context))
    .use(resourceAuth(context))
  for (const action of content.actions) {
    routes.post(
      `/${action}`,
      async ({ site: { siteId }, resource, body }) =>
        content.perform(context, { siteId, resource: resource() }, action, body),
      {
        resourceRole: 'admin',
        changes: { audit: 'content', effects: [] },
        requestBody: content.bodyOf(action),
        params: ResourcePath,
        // Each action says itself what it does not know.
        body: Type.Unknown(),
        response: content.answers[action],
      },
    )
  }
  return routes.post('/:action', ({ params }): never => unknownAction(content, params.action), {
    role: 'admin',
    changes: { audit: 'content', effects: [] },
    params: ActionPath,
    body: Type.Unknown(),
    responds: 'refusal',
  })
}

export function unknownAction(
  { noun, actions }: Pick<ContentActions<string>, 'noun' | 'actions'>,
  action: string,
): never {
  const message = `"${action.slice(0, 64)}" is no action on a ${noun}; the actions are ${actions.join(', ')}`
  throw new AppError('RouteNotFound', message, { fields: { actions } })
}

function tableOf(siteId: string, resource: Resource): Table {
  if (resource.type !== 'ddbTable') throw wrongType(resource, 'ddbTable')
  return { siteId, tableId: resource.resourceId, schema: resource.config }
}

function bucketOf(siteId: string, resource: Resource): Bucket {
  if (resource.type !== 's3Bucket') throw wrongType(resource, 's3Bucket')
  return { siteId, bucketId: resource.resourceId, config: resource.config }
}

const wrongType = ({ name, type }: Resource, wanted: 'ddbTable' | 's3Bucket'): AppError =>
  invalid(
    'resourceId',
    `"${name}" is of type ${type}: these actions are for ${wanted === 'ddbTable' ? 'a' : 'an'} ${wanted}`,
  )
