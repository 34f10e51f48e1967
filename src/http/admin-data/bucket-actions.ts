import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { resourceAuth } from '#http/plugins/resource-auth.ts'
import {
  DeleteAnswer,
  GetAnswer,
  ListAnswer,
  PresignAnswer,
  PutAnswer,
} from '#runtime/buckets/answers.ts'
import { BUCKET_ACTIONS, type Bucket, type BucketAction } from '#runtime/buckets/bucket.ts'
import type { Resource } from '#runtime/resources/model.ts'

import { NameText } from './views.ts'

const ANSWERS = {
  'list-objects': ListAnswer,
  'get-object': GetAnswer,
  'put-object': PutAnswer,
  'delete-object': DeleteAnswer,
  'presign-get-object': PresignAnswer,
  'presign-put-object': PresignAnswer,
} as const satisfies Record<BucketAction, TSchema>

/** An object of 6 MiB as base64, and its envelope. */
const MAX_OBJECT_JSON_BYTES = 8 * 1024 * 1024 + 64 * 1024

const BucketPath = Type.Object({ resourceId: NameText })
const ActionPath = Type.Object({ resourceId: NameText, action: Type.String() })

/** The objects of a bucket, as an admin works with them: from the moment the bucket is created, published or not. */
export const bucketActionRoutes = (context: AppContext) => {
  const routes = new Elysia({ prefix: '/admin/data/resources/:resourceId/data/s3' })
    .use(adminAuth(context))
    .use(resourceAuth(context))
  for (const action of BUCKET_ACTIONS) {
    routes.post(
      `/${action}`,
      async ({ site, resource, body }) =>
        context.buckets.perform(bucketOf(site.siteId, resource()), action, body),
      {
        resourceRole: 'admin',
        requestBody: optionalJsonBody(action === 'put-object' ? MAX_OBJECT_JSON_BYTES : undefined),
        params: BucketPath,
        response: ANSWERS[action],
      },
    )
  }
  return routes.post(
    '/:action',
    ({ params }): never => {
      throw unknownAction(params.action)
    },
    { role: 'admin', params: ActionPath },
  )
}

function bucketOf(siteId: string, resource: Resource): Bucket {
  if (resource.type === 's3Bucket') {
    return { siteId, bucketId: resource.resourceId, config: resource.config }
  }
  throw invalid(
    'resourceId',
    `"${resource.name}" is of type ${resource.type}: these actions are for an s3Bucket`,
  )
}

const unknownAction = (action: string): AppError =>
  new AppError(
    'RouteNotFound',
    `"${action.slice(0, 64)}" is no action on a bucket; the actions are ${BUCKET_ACTIONS.join(', ')}`,
    { fields: { actions: BUCKET_ACTIONS } },
  )
