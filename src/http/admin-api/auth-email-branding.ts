import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { BrandingChange, Brandings, MESSAGE_TYPES } from '#identity/auth-emails/branding.ts'
import type { Site } from '#sites/site.ts'

const BrandingView = Type.Object({
  siteId: Type.String(),
  authEmailBranding: Brandings,
  messageTypes: Type.Array(Type.String()),
})

/** How the codes look that a site's pools mail. */
export const authEmailBrandingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/auth-email-branding' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get('/', async ({ site }) => view(site, await context.authEmailBranding.get(site.siteId)), {
      role: 'super-admin',
      summary: 'Get the texts of the emails with codes',
      response: BrandingView,
    })
    .put(
      '/',
      async ({ site, by, body }) =>
        view(site, await context.authEmailBranding.change(site.siteId, by, body)),
      {
        role: 'super-admin',
        summary: 'Change the texts of the emails with codes',
        errors: ['MissingPlaceholder'],
        changes: { audit: ['branding.changed'], effects: ['changesAuthMail'] },
        body: BrandingChange,
        response: BrandingView,
      },
    )

const view = ({ siteId }: Site, authEmailBranding: Brandings): Static<typeof BrandingView> => ({
  siteId,
  authEmailBranding,
  messageTypes: [...MESSAGE_TYPES],
})
