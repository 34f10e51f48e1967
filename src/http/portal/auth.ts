import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { CallbackCheck } from '#identity/federation/callback-checks.ts'
import { GoogleInput, ProviderRecord } from '#identity/federation/model.ts'
import { AuthChange, AuthView } from '#identity/pools/auth-change.ts'

/**
 * How a site's two pools take sign-ups and passwords, where their clients may return to, and the providers that visitors may
 * sign in with: the client secret of one goes in and never comes out.
 */
export const portalAuthRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/auth' })
    .use(operatorAuth(context))
    .get('/', async ({ site }) => context.authSettings.get(site), {
      siteOperator: true,
      summary: 'Get the sign-in settings of a site',
      params: SitePath,
      response: AuthView,
    })
    .patch(
      '/',
      async ({ site, body, request }) => context.authSettings.change(site, body, originOf(request)),
      {
        siteOperator: true,
        summary: 'Change the sign-in settings of a site',
        changes: { audit: ['settings.changed'], effects: ['movesAccount'] },
        params: SitePath,
        body: AuthChange,
        response: AuthView,
      },
    )
    .use(providerRoutes(context))

const providerRoutes = (context: AppContext) =>
  new Elysia()
    .use(operatorAuth(context))
    .get(
      '/providers',
      async ({ site }) => ({ items: [...(await context.providers.list(site))], nextToken: null }),
      {
        siteOperator: true,
        summary: 'List identity providers',
        params: SitePath,
        response: PageOf(ProviderRecord),
      },
    )
    .put(
      '/providers/google',
      async ({ site, body }) => context.providers.configureGoogle(site, body),
      {
        siteOperator: true,
        summary: 'Set up sign-in with Google',
        changes: { audit: ['settings.changed'], effects: ['setsSecret'] },
        params: SitePath,
        body: GoogleInput,
        response: ProviderRecord,
      },
    )
    .post('/providers/google/callback', async ({ site }) => context.callbackChecks.check(site), {
      siteOperator: true,
      summary: 'Check the callback URL at Google',
      errors: ['ProviderNotFound'],
      changes: { audit: ['settings.changed'], effects: [] },
      params: SitePath,
      response: CallbackCheck,
    })
    .delete(
      '/providers/google',
      async ({ site }) => {
        await context.providers.removeGoogle(site)
        return noContent()
      },
      {
        siteOperator: true,
        summary: 'Remove sign-in with Google',
        errors: ['ProviderNotFound'],
        changes: { audit: ['settings.changed'], effects: ['movesAccount'] },
        params: SitePath,
        responds: 'no-content',
      },
    )
