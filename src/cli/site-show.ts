import { Type } from '@sinclair/typebox'

import { SiteRecord } from '#sites/model.ts'

import { columns } from './columns.ts'
import type { CliCommand } from './command.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const ShownSite = Type.Composite([
  SiteRecord,
  Type.Object({
    superAdmins: Type.Array(Type.String()),
    permissionsSync: Type.Object({ status: Type.String(), error: Type.Optional(Type.String()) }),
  }),
])

export const siteShow: CliCommand = {
  name: 'site show',
  summary: 'Show the configuration and the current deployment of a site',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const site = await readSite(service, args.word)
    return { json: site, text: columns(rowsOf(site)) }
  },
}

/** By domain or id. */
export const readSite = async (service: ServiceClient, site: string) =>
  await service.portalAs(ShownSite, 'GET', sitePath(site))

type Shown = Awaited<ReturnType<typeof readSite>>

function rowsOf(site: Shown): string[][] {
  const { deploymentSettings, permissionsSync } = site
  return [
    ['domain', site.domain],
    ['administration', site.adminDomain ?? 'on its domain'],
    ['visitors sign in', site.authDomain ?? 'on its domain'],
    ...(site.formerAuthDomains.length === 0
      ? []
      : [['and their programs', words(site.formerAuthDomains, 'nowhere else')]]),
    ['site id', site.siteId],
    ['region', site.region],
    ['super-admins', words(site.superAdmins, 'none')],
    ...sourceRows(site),
    ['egress', words(deploymentSettings.egress.allow, 'nothing')],
    ['browser origins', words(deploymentSettings.cors.origins, 'its own')],
    ['limits', words(limitsOf(deploymentSettings), 'all default')],
    ['automatic rollback', autoRollbackWords(deploymentSettings)],
    ['deployment', site.currentDeploymentId ?? 'none'],
    ['runtime', `${permissionsSync.status} ${permissionsSync.error ?? ''}`],
    ['created', site.createdAt],
    ['updated', site.updatedAt],
  ]
}

function sourceRows({ sourceMode, repo, repoBinding }: Shown): string[][] {
  const place = repo ?? repoBinding
  return [
    ['source', sourceMode],
    ...(repo === null ? [] : [['repository', repo.url]]),
    ...(place === null
      ? []
      : [
          ['branch', place.branch],
          ['artifacts', place.artifactDirectory],
        ]),
  ]
}

const autoRollbackWords = ({ autoRollback }: Shown['deploymentSettings']): string => {
  const { enabled, failurePercent, minCalls } = autoRollback
  return enabled ? `above ${failurePercent}% failures of at least ${minCalls} calls` : 'off'
}

const limitsOf = ({ limits }: Shown['deploymentSettings']): string[] =>
  Object.entries(limits).map(([name, value]) => `${name}=${value}`)

const words = (list: readonly string[], none: string): string =>
  list.length === 0 ? none : list.join(' ')
