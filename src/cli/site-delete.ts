import type { Command } from './command.ts'
import { UsageError } from './faults.ts'
import { readSite, sitePath } from './site-show.ts'

export const siteDelete: Command = {
  name: 'site delete',
  summary: 'Remove a site with everything it has, for good',
  usage: 'DOMAIN --confirm',
  options: { confirm: { type: 'boolean' } },
  maxPositionals: 1,
  async run({ args, service }) {
    const domain = args.word(0, 'DOMAIN')
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
