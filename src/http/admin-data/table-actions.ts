import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { resourceAuth } from '#http/plugins/resource-auth.ts'
import type { Resource } from '#runtime/resources/model.ts'
import {
  BatchGetAnswer,
  BatchWriteAnswer,
  ItemAnswer,
  PageAnswer,
  TransactAnswer,
  WriteAnswer,
} from '#runtime/tables/api/answers.ts'
import { TABLE_ACTIONS, type TableAction } from '#runtime/tables/service.ts'
import type { Table } from '#runtime/tables/table.ts'

import { NameText } from './views.ts'

const ANSWERS = {
  get: ItemAnswer,
  query: PageAnswer,
  scan: PageAnswer,
  put: WriteAnswer,
  update: WriteAnswer,
  delete: WriteAnswer,
  'batch-get': BatchGetAnswer,
  'batch-write': BatchWriteAnswer,
  'transact-write': TransactAnswer,
} as const satisfies Record<TableAction, TSchema>

const TablePath = Type.Object({ resourceId: NameText })
const ActionPath = Type.Object({ resourceId: NameText, action: Type.String() })

/** The items of a table, as an admin works with them: from the moment the table is created, published or not. */
export const tableActionRoutes = (context: AppContext) => {
  const routes = new Elysia({ prefix: '/admin/data/resources/:resourceId/data/ddb' })
    .use(adminAuth(context))
    .use(resourceAuth(context))
  for (const action of TABLE_ACTIONS) {
    routes.post(
      `/${action}`,
      async ({ site, resource, body }) =>
        context.tables.perform(tableOf(site.siteId, resource()), action, body),
      { resourceRole: 'admin', params: TablePath, response: ANSWERS[action] },
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

function tableOf(siteId: string, resource: Resource): Table {
  if (resource.type === 'ddbTable') {
    return { siteId, tableId: resource.resourceId, schema: resource.config }
  }
  throw invalid(
    'resourceId',
    `"${resource.name}" is of type ${resource.type}: these actions are for a ddbTable`,
  )
}

const unknownAction = (action: string): AppError =>
  new AppError(
    'RouteNotFound',
    `"${action.slice(0, 64)}" is no action on a table; the actions are ${TABLE_ACTIONS.join(', ')}`,
    { fields: { actions: TABLE_ACTIONS } },
  )
