import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { optionalJson } from '#http/plugins/optional-json.ts'
import {
  BatchGetAnswer,
  BatchWriteAnswer,
  ItemAnswer,
  PageAnswer,
  TransactAnswer,
  WriteAnswer,
} from '#runtime/tables/plain/answers.ts'
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
    .use(optionalJson())
  for (const action of TABLE_ACTIONS) {
    routes.post(
      `/${action}`,
      async ({ site, params, body }) => {
        const table = await tableOf(context, site.siteId, params.resourceId)
        return context.tables.perform(table, action, body)
      },
      { role: 'admin', optionalJson: true, params: TablePath, response: ANSWERS[action] },
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

async function tableOf(context: AppContext, siteId: string, tableId: string): Promise<Table> {
  const resource = await context.resources.get(siteId, tableId)
  if (resource.type === 'ddbTable') return { siteId, tableId, schema: resource.config }
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
