import { CreatedSite } from '#sites/model.ts'

import { type CliCommand, listOption, textOption } from './command.ts'
import { ADMIN_DOMAIN_OPTION, AUTH_DOMAIN_OPTION, resolvingName } from './own-names.ts'
import { SITE_OPTIONS, defined, orNone, siteFields } from './site-options.ts'

export const siteCreate: CliCommand = {
  name: 'site create',
  summary: 'Create a site, and onboarding links for its super-admins',
  words: ['DOMAIN'],
  wordOption: 'domain',
  options: [
    ADMIN_DOMAIN_OPTION,
    AUTH_DOMAIN_OPTION,
    textOption('--region <region>', 'the region that it names to its clients'),
    listOption('--super-admin <email>', 'gets an onboarding link'),
    ...SITE_OPTIONS,
  ],
  async run({ args, service }) {
    const domain = args.word
    const [adminDomain, authDomain] = await Promise.all([
      nameOf('admin', args.text('adminDomain')),
      nameOf('auth', args.text('authDomain')),
    ])
    const body = {
      domain,
      adminDomain,
      authDomain,
      ...defined({ region: args.text('region'), superAdmins: args.list('superAdmin') }),
      ...siteFields(args),
    }
    const site = await service.portalAs(CreatedSite, 'POST', '/sites', { body })
    const links = site.onboarding.map(({ email, url }) => `  ${email}  ${url}`)
    return {
      json: {
        siteId: site.siteId,
        siteDomain: site.domain,
        adminDomain: site.adminDomain,
        authDomain: site.authDomain,
        onboarding: site.onboarding,
      },
      text: [
        `Created ${site.domain} (${site.siteId}).`,
        ...(site.adminDomain === null ? [] : [`Its administration is at ${site.adminDomain}.`]),
        ...(site.authDomain === null ? [] : [`Its visitors sign in at ${site.authDomain}.`]),
        ...(links.length === 0 ? [] : ['Onboarding links, shown this once:', ...links]),
        `Next: croft site deploy ${site.domain}${site.repo === null ? ' --from DIR' : ''}`,
      ].join('\n'),
    }

    async function nameOf(label: 'admin' | 'auth', given: string | undefined) {
      const name = orNone(given)
      return name === undefined ? resolvingName(label, domain) : name
    }
  },
}
