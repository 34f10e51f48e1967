import { Elysia } from 'elysia'

import { ipPrefix } from '#base/ip-prefix.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { idempotentRequest } from '#http/idempotency.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import { ContactAnswer, ContactSubmission } from '#mail/contact/model.ts'

/** The contact form of a site, for pages of its own and of the origins that it names. */
export const contactRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/public/contact' }).use(publicSite(context)).post(
    '/',
    async ({ site, request, body }) => {
      const { address } = originOf(request)
      const scope = `POST /admin/public/contact ${ipPrefix(address)}`
      const repeatable = idempotentRequest(request, scope, body)
      return context.contactForm.submit(site, body, { address, repeatable })
    },
    {
      open: 'Strangers write to the people of the site; bounded by network',
      idempotent: 'Idempotency-Key',
      summary: 'Send a message to the people of the site',
      errors: ['ContactNotConfigured'],
      changes: { audit: 'content', effects: [] },
      requestBody: jsonBody(SHORT_JSON_BYTES),
      body: ContactSubmission,
      response: ContactAnswer,
    },
  )
