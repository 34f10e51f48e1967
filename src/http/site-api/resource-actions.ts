import { type TSchema, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { AppContext } from '#context'
import { type RequestBody, itemsBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { NameText } from '#http/path-params.ts'
import { type SiteFamily, siteFamily } from '#http/plugins/site-family.ts'
import { BUCKET_ACTIONS, BUCKET_ANSWERS, type BucketAction } from '#runtime/buckets/answers.ts'
import type { Bucket } from '#runtime/buckets/bucket.ts'
import type { Resource } from '#runtime/resources/model.ts'
import { TABLE_ACTIONS, TABLE_ANSWERS, type TableAction } from '#runtime/tables/api/answers.ts'
import type { Table } from '#runtime/tables/table.ts'

/** An object of 6 MiB as base64, and its envelope. */
const MAX_OBJECT_JSON_BYTES = 8 * 1024 * 1024 + 64 * 1024

const ResourcePath = Type.Object({ resourceId: NameText })
const ActionPath = Type.Object({ resourceId: NameText, action: Type.String() })

/** The actions on the content of one type of resource. */
interface ContentActions<Action extends string> {
  /** Below a resource: `data/ddb`. */
  readonly path: string
  readonly noun: string
  readonly actions: readonly Action[]
  readonly summaries: Readonly<Record<Action, string>>
  readonly errors: Readonly<Record<Action, readonly ErrorCode[]>>
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
const TABLE_CONTENT: ContentActions<TableAction> = {
  path: 'data/ddb',
  noun: 'table',
  actions: TABLE_ACTIONS,
  summaries: {
    get: 'Get an item',
    put: 'Put an item',
    update: 'Update an item',
    delete: 'Delete an item',
    query: 'Query items',
    scan: 'Scan items',
    'batch-get': 'Get several items',
    'batch-write': 'Put and delete several items',
    'transact-write': 'Write several items in one transaction',
  },
  errors: {
    get: [],
    put: ['ConditionalCheckFailed', 'QuotaExceeded'],
    update: ['ConditionalCheckFailed', 'QuotaExceeded'],
    delete: ['ConditionalCheckFailed'],
    query: ['InvalidNextToken'],
    scan: ['InvalidNextToken'],
    'batch-get': [],
    'batch-write': ['QuotaExceeded'],
    'transact-write': ['IdempotencyKeyReused', 'QuotaExceeded', 'TransactionCanceled'],
  },
  answers: TABLE_ANSWERS,
  bodyOf: () => itemsBody('optional-json'),
  perform: ({ tables }, { siteId, resource }, action, body) =>
    tables.perform(tableOf(siteId, resource), action, body),
}

/** The objects of a bucket, likewise. */
const BUCKET_CONTENT: ContentActions<BucketAction> = {
  path: 'data/s3',
  noun: 'bucket',
  actions: BUCKET_ACTIONS,
  summaries: {
    'list-objects': 'List objects',
    'get-object': 'Get an object',
    'put-object': 'Put an object',
    'delete-object': 'Delete an object',
    'presign-get-object': 'Sign a URL that gets an object',
    'presign-put-object': 'Sign a URL that puts an object',
  },
  errors: {
    'list-objects': ['InvalidNextToken'],
    'get-object': ['ObjectNotFound'],
    'put-object': ['PreconditionFailed', 'QuotaExceeded'],
    'delete-object': [],
    'presign-get-object': [],
    'presign-put-object': ['QuotaExceeded'],
  },
  answers: BUCKET_ANSWERS,
  bodyOf: (action) => optionalJsonBody(action === 'put-object' ? MAX_OBJECT_JSON_BYTES : undefined),
  perform: ({ buckets }, { siteId, resource }, action, body) =>
    buckets.perform(bucketOf(siteId, resource), action, body),
}

export const tableActionRoutes = contentFamily(TABLE_CONTENT)
export const bucketActionRoutes = contentFamily(BUCKET_CONTENT)

function contentFamily<Action extends string>(content: ContentActions<Action>): SiteFamily {
  const below = `/resources/:resourceId/${content.path}` as const
  const paths = { site: `/admin/data${below}`, operator: below } as const
  return siteFamily(paths, (routes, context) => {
    for (const action of content.actions) {
      const summary: string = content.summaries[action]
      const errors: readonly ErrorCode[] = content.errors[action]
      routes.post(
        `/${action}`,
        async ({ site: { siteId }, resource, body }) =>
          content.perform(context, { siteId, resource }, action, body),
        {
          resourceRole: 'admin',
          summary,
          errors,
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
      summary: 'Refuse an unknown action',
      changes: { audit: 'content', effects: [] },
      params: ActionPath,
      body: Type.Unknown(),
      responds: 'refusal',
    })
  })
}

function unknownAction(
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
