import { type CliCommand, flagOption } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { readSite } from './site-show.ts'

export const siteDelete: CliCommand = {
  name: 'site delete',
  summary: 'Remove a site with everything it has, for good',
  words: ['DOMAIN'],
  options: [flagOption('--confirm', 'agree to it')],
  async run({ args, service }) {
    const domain = args.word
    if (!args.flag('confirm')) {
      throw new UsageError(`this removes everything "${domain}" has, for good: add --confirm`)
    }
    const site = await readSite(service, domain)
    await service.portal('DELETE', sitePath(site.siteId), { body: { confirm: true } })
    return {
      json: { siteId: site.siteId, siteDomain: site.domain, deleted: true },
      text: `Deleted ${site.domain} (${site.siteId}).`,
    }
  },
}
