import { SiteRecord } from '#sites/model.ts'

import type { Command } from './command.ts'
import { UsageError } from './faults.ts'
import { expectShape } from './shape.ts'
import { SITE_OPTIONS, SITE_USAGE, defined, siteFields } from './site-options.ts'
import { readSite, sitePath } from './site-show.ts'

export const siteUpdate: Command = {
  name: 'site update',
  summary: 'Change what is configured; what is left out stays',
  usage: `DOMAIN [--domain NEW] ${SITE_USAGE}`,
  options: { domain: { type: 'string' }, ...SITE_OPTIONS },
  maxPositionals: 1,
  async run({ args, service }) {
    const before = await readSite(service, args.word(0, 'DOMAIN'))
    const body = {
      ...defined({ domain: args.text('domain') }),
      ...siteFields(args, args.text('source') ?? before.sourceMode),
    }
    if (Object.keys(body).length === 0) throw new UsageError('say what to change')
    const answer = await service.portal('PATCH', sitePath(before.siteId), { body })
    const site = expectShape(SiteRecord, answer)
    return { json: site, text: `Updated ${site.domain} (${site.siteId}).` }
  },
}
