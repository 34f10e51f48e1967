import { CreatedSite } from '#sites/model.ts'

import type { Command } from './command.ts'
import { expectShape } from './shape.ts'
import { SITE_OPTIONS, SITE_USAGE, defined, siteFields } from './site-options.ts'

export const siteCreate: Command = {
  name: 'site create',
  summary: 'Make a site, and onboarding links for its super-admins',
  usage: `--domain DOMAIN [--region REGION] [--super-admin EMAIL]… ${SITE_USAGE}`,
  options: {
    domain: { type: 'string' },
    region: { type: 'string' },
    'super-admin': { type: 'string', multiple: true },
    ...SITE_OPTIONS,
  },
  async run({ args, service }) {
    const body = {
      domain: args.required('domain'),
      ...defined({ region: args.text('region'), superAdmins: args.list('super-admin') }),
      ...siteFields(args),
    }
    const site = expectShape(CreatedSite, await service.portal('POST', '/sites', { body }))
    const links = site.onboarding.map(({ email, url }) => `  ${email}  ${url}`)
    return {
      json: { siteId: site.siteId, siteDomain: site.domain, onboarding: site.onboarding },
      text: [
        `Created ${site.domain} (${site.siteId}).`,
        ...(links.length === 0 ? [] : ['Onboarding links, shown this once:', ...links]),
        `Next: croft site deploy ${site.domain}${site.repo === null ? ' --from DIR' : ''}`,
      ].join('\n'),
    }
  },
}
