import { SiteRecord } from '#sites/model.ts'

import { columns } from './columns.ts'
import type { CliCommand } from './command.ts'
import { itemPage } from './list-command.ts'

const SitePage = itemPage(SiteRecord)

export const siteList: CliCommand = {
  name: 'site list',
  summary: 'List the sites of this installation',
  options: [],
  async run({ service }) {
    const sites = await service.portalItems(SitePage, '/sites')
    const rows = sites.map((site) => [
      site.domain,
      site.siteId,
      site.region,
      site.sourceMode,
      site.currentDeploymentId ?? 'not deployed',
    ])
    return {
      json: { items: sites, nextToken: null },
      text: rows.length === 0 ? 'There are no sites yet: croft site create' : columns(rows),
    }
  },
}
