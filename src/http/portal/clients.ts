import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf } from '#http/paging.ts'
import { NameText, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import {
  ClientRegistration,
  ClientRegistrationChange,
  NewlyRegisteredClient,
  RegisteredClient,
  SecretRotation,
} from '#identity/client-registrations/model.ts'

const ClientPath = Type.Composite([SitePath, Type.Object({ clientId: NameText })])

/** Applications beside a site's own that sign people in. A secret is in the answer that makes it, and in no other. */
export const portalClientRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/clients' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site }) => ({
        items: await context.clientRegistrations.list(site),
        nextToken: null,
      }),
      {
        siteOperator: true,
        summary: 'List OAuth clients',
        params: SitePath,
        response: PageOf(RegisteredClient),
      },
    )
    .post(
      '/',
      async ({ site, request, body }) =>
        context.clientRegistrations.register(site, operatorAt(request), body),
      {
        siteOperator: true,
        summary: 'Create an OAuth client',
        errors: ['TooManyClients'],
        changes: { audit: ['client.registered'], effects: ['setsSecret'] },
        params: SitePath,
        body: ClientRegistration,
        response: NewlyRegisteredClient,
      },
    )
    .get(
      '/:clientId',
      async ({ site, params }) => context.clientRegistrations.get(site, params.clientId),
      {
        siteOperator: true,
        summary: 'Get an OAuth client',
        params: ClientPath,
        response: RegisteredClient,
      },
    )
    .use(clientChangeRoutes(context))

const clientChangeRoutes = (context: AppContext) =>
  new Elysia()
    .use(operatorAuth(context))
    .patch(
      '/:clientId',
      async ({ site, request, params, body }) =>
        context.clientRegistrations.change(site, operatorAt(request), params.clientId, body),
      {
        siteOperator: true,
        summary: 'Change an OAuth client',
        changes: { audit: ['client.changed'], effects: [] },
        params: ClientPath,
        body: ClientRegistrationChange,
        response: RegisteredClient,
      },
    )
    .post(
      '/:clientId/secret',
      async ({ site, request, params, body }) =>
        context.clientRegistrations.rotateSecret(site, operatorAt(request), params.clientId, body),
      {
        siteOperator: true,
        summary: 'Renew the secret of an OAuth client',
        errors: ['ClientWithoutSecret'],
        changes: { audit: ['client.secret-rotated'], effects: ['setsSecret'] },
        params: ClientPath,
        body: SecretRotation,
        response: NewlyRegisteredClient,
      },
    )
    .delete(
      '/:clientId',
      async ({ site, request, params }) => {
        await context.clientRegistrations.remove(site, operatorAt(request), params.clientId)
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'Delete an OAuth client',
        changes: { audit: ['client.removed'], effects: [] },
        params: ClientPath,
        responds: 'no-content',
      },
    )
