import { requireAgreement } from './agreement.ts'
import { type CliCommand, YES_OPTIONS } from './command.ts'
import { sitePath } from './service-client.ts'
import { readSite } from './site-show.ts'

export const siteDelete: CliCommand = {
  name: 'site delete',
  summary: 'Delete a site and everything it has permanently',
  words: ['DOMAIN'],
  options: YES_OPTIONS,
  async run({ args, service }) {
    const domain = args.word
    await requireAgreement(args, `this removes everything "${domain}" has`)
    const site = await readSite(service, domain)
    await service.portal('DELETE', sitePath(site.siteId), { body: { confirm: true } })
    return {
      json: { siteId: site.siteId, siteDomain: site.domain, deleted: true },
      text: `Deleted ${site.domain} (${site.siteId}).`,
    }
  },
}
