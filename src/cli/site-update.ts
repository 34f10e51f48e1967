import { SiteRecord } from '#sites/model.ts'

import { type CliCommand, flagOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { ADMIN_DOMAIN_OPTION, AUTH_DOMAIN_OPTION } from './own-names.ts'
import { sitePath } from './service-client.ts'
import { SITE_OPTIONS, defined, orNone, siteFields } from './site-options.ts'
import { readSite } from './site-show.ts'

export const siteUpdate: CliCommand = {
  name: 'site update',
  summary: 'Change the configuration of a site; options that are left out change nothing',
  words: ['DOMAIN'],
  options: [
    textOption('--domain <domain>', 'its new domain'),
    ADMIN_DOMAIN_OPTION,
    AUTH_DOMAIN_OPTION,
    flagOption(
      '--end-former-auth',
      'end the former issuers of the visitors’ sign-in, and with them the tokens that they made',
    ),
    ...SITE_OPTIONS,
  ],
  async run({ args, service }) {
    const before = await readSite(service, args.word)
    const body = {
      ...defined({
        domain: args.text('domain'),
        adminDomain: orNone(args.text('adminDomain')),
        authDomain: orNone(args.text('authDomain')),
        formerAuthDomains: args.flag('endFormerAuth') ? [] : undefined,
      }),
      ...siteFields(args, args.text('source') ?? before.sourceMode),
    }
    if (Object.keys(body).length === 0) throw new UsageError('say what to change')
    const site = await service.portalAs(SiteRecord, 'PATCH', sitePath(before.siteId), { body })
    return { json: site, text: `Updated ${site.domain} (${site.siteId}).` }
  },
}
