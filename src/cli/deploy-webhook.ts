import { CreatedWebhook } from '#identity/deploy-webhooks/deploy-webhooks.ts'

import { columns } from './columns.ts'
import type { CliCommand } from './command.ts'
import { sitePath } from './service-client.ts'

export const deployWebhookCreate: CliCommand = {
  name: 'deploy-webhook create',
  summary:
    'Create a webhook secret for the forge of a site’s external repository; it is shown once',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, '/deploy-webhook')
    const made = await service.portalAs(CreatedWebhook, 'PUT', path)
    const rows = [
      ['url', made.url],
      ['secret', made.secret],
      ['content type', 'application/json'],
      ['events', 'push'],
    ]
    return { json: made, text: columns(rows) }
  },
}

export const deployWebhookEnd: CliCommand = {
  name: 'deploy-webhook end',
  summary: 'Revoke the webhook secret of a site',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    await service.portal('DELETE', sitePath(args.word, '/deploy-webhook'))
    return { json: { ended: args.word }, text: `Ended the webhook of ${args.word}.` }
  },
}
