import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { readText } from '#http/bodies/read-body.ts'
import { RequestBody } from '#http/bodies/request-body.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import { WEBHOOK_PATH, WebhookAnswer } from '#identity/deploy-webhooks/deploy-webhooks.ts'

/** Of a push with thousands of commits. */
const BODY = new RequestBody('text', 5 * 1024 * 1024)

/** Where the forge of an external repository reports pushes. */
export const deployWebhookRoutes = (context: AppContext) =>
  new Elysia({ prefix: WEBHOOK_PATH }).use(publicSite(context)).post(
    '/',
    async ({ site, request, set }) => {
      const { headers } = request
      const { address } = originOf(request)
      await context.deployWebhooks.admit(headers, address)
      const body = await readText(request, BODY)
      const answer = await context.deployWebhooks.receive(site, { headers, body }, address)
      if (answer.status === 'queued') set.status = 202
      return answer
    },
    {
      open: 'Forges sign what they send with a secret of the site',
      summary: 'Report a push to the repository of the site',
      errors: ['Unauthorized'],
      changes: {
        audit: 'job',
        effects: provenBy('a signature with a secret of the site', ['setsSecret?']),
      },
      requestBody: BODY,
      response: { 200: WebhookAnswer, 202: WebhookAnswer },
    },
  )
