import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { auditAs } from '#http/audited.ts'
import { jsonBody } from '#http/bodies/request-body.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { shownConfig } from '#runtime/resources/config.ts'
import { NewResource, ResourcePatch } from '#runtime/resources/model.ts'
import type { ChangedResource } from '#runtime/resources/resources.ts'

import { Done, done, PermissionsSyncView, viewOf } from './views.ts'

/** Inline code of 1 MiB, however it is escaped within reason. */
const MAX_RESOURCE_BYTES = 4 * 1024 * 1024

const ResourcePath = Type.Object({ resourceId: NameText })

const Confirmation = ClosedObject({ confirm: Type.Optional(Type.Boolean()) })
const ConfirmationQuery = t.Object({ confirm: t.Optional(t.Boolean()) })

export const ResourceView = Type.Object({
  resourceId: Type.String(),
  type: Type.String(),
  name: Type.String(),
  config: Type.Unknown(),
  createdAt: Type.Date(),
  updatedAt: Type.Date(),
})

const ChangedView = Type.Object({
  resourceId: Type.String(),
  type: Type.String(),
  name: Type.String(),
  permissionsSync: PermissionsSyncView,
})

/** What a site's operations depend on: tables, buckets, functions. For admins alone: the operator sends definitions. */
export const resourceRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/resources' })
    .use(adminAuth(context, jsonBody(MAX_RESOURCE_BYTES)))
    .post(
      '/',
      async ({ site, by, body }) => {
        const audit = auditAs(context, by)
        return changedView(await context.resources.create(site.siteId, body, audit))
      },
      {
        role: 'admin',
        summary: 'Create a resource',
        errors: ['InvalidCode', 'ResourceAlreadyExists'],
        changes: { audit: ['resource.created'], effects: [] },
        body: NewResource,
        response: ChangedView,
      },
    )
    .get(
      '/:resourceId',
      async ({ site, params }) => {
        const resource = await context.resources.get(site.siteId, params.resourceId)
        return viewOf(ResourceView, { ...resource, config: shownConfig(resource) })
      },
      { role: 'admin', summary: 'Get a resource', params: ResourcePath, response: ResourceView },
    )
    .patch(
      '/:resourceId',
      async ({ site, by, params, body }) => {
        const on = [site.siteId, params.resourceId] as const
        return changedView(await context.resources.update(...on, body, auditAs(context, by)))
      },
      {
        role: 'admin',
        summary: 'Change a resource',
        errors: ['ImmutableField', 'InvalidCode', 'ResourceAlreadyExists'],
        changes: { audit: ['resource.changed'], effects: [] },
        params: ResourcePath,
        body: ResourcePatch,
        response: ChangedView,
      },
    )
    .delete(
      '/:resourceId',
      async ({ site, by, params, body, query }) => {
        const confirmed = body?.confirm ?? query.confirm ?? false
        const audit = auditAs(context, by)
        return done(context.resources.remove(site.siteId, params.resourceId, { confirmed }, audit))
      },
      {
        role: 'admin',
        summary: 'Delete a resource and its content',
        errors: ['ConfirmationRequired', 'ResourceInUse'],
        changes: { audit: ['resource.deleted'], effects: [] },
        params: ResourcePath,
        query: ConfirmationQuery,
        body: Type.Optional(Confirmation),
        response: Done,
      },
    )

const changedView = ({ resource, permissionsSync }: ChangedResource) =>
  viewOf(ChangedView, { ...resource, permissionsSync })
