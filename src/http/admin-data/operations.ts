import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { auditAs } from '#http/audited.ts'
import { itemsBody } from '#http/bodies/request-body.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { PutOperation } from '#runtime/operations/model.ts'

import { OperationView, operationView } from './operation-view.ts'
import { Done, done, PermissionsSyncView } from './views.ts'

const OperationPath = Type.Object({ operation: NameText })

const Invalidated = Type.Object({ ok: Type.Literal(true), invalidatedCount: Type.Integer() })
const Reconciling = Type.Object({
  status: Type.Literal('queued'),
  permissionsSync: PermissionsSyncView,
})

/** What a site's visitors can call, and the answers that are kept for them. */
export const operationRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data' })
    .use(adminAuth(context))
    .post(
      '/operations',
      async ({ site, by, body }) => {
        const audit = auditAs(context, by)
        const { operation, permissionsSync } = await context.operations.put(site, body, audit)
        return operationView(operation, permissionsSync)
      },
      {
        role: 'admin',
        summary: 'Create or replace an operation',
        changes: { audit: ['operation.created', 'operation.changed'], effects: [] },
        // What a preset fixes may be items of a table.
        requestBody: itemsBody('json'),
        body: PutOperation,
        response: OperationView,
      },
    )
    .delete(
      '/operations/:operation',
      async ({ site, by, params }) =>
        done(context.operations.remove(site.siteId, params.operation, auditAs(context, by))),
      {
        role: 'admin',
        summary: 'Delete an operation',
        errors: ['ResourceInUse'],
        changes: { audit: ['operation.deleted'], effects: [] },
        params: OperationPath,
        response: Done,
      },
    )
    .post(
      '/operations/:operation',
      async ({ site, params }) => ({
        ok: true as const,
        invalidatedCount: await context.operations.invalidate(site, params.operation),
      }),
      {
        role: 'admin',
        summary: 'Drop the cached responses of an operation',
        changes: { audit: 'derived', effects: [] },
        params: OperationPath,
        response: Invalidated,
      },
    )
    .post(
      '/reconcile',
      async ({ site }) => ({
        status: 'queued' as const,
        permissionsSync: await context.permissionSync.reconcile(site.siteId),
      }),
      {
        role: 'admin',
        summary: 'Publish the runtime of the site again',
        changes: { audit: 'derived', effects: [] },
        response: Reconciling,
      },
    )
