import { DeploymentRecord } from '#sites/deployments/model.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import {
  actorText,
  changeText,
  gitText,
  healthText,
  reasonText,
  sizeText,
} from './deployment-text.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { itemPage } from './list-command.ts'
import { sitePath } from './service-client.ts'

const DeploymentPage = itemPage(DeploymentRecord)

export const siteDeployments: CliCommand = {
  name: 'site deployments',
  summary: 'List the deployments of a site, newest first: who, when, which commit, what changed',
  words: ['DOMAIN'],
  deployToken: true,
  options: [LIMIT_OPTION],
  async run({ args, service }) {
    const path = sitePath(args.word, '/deployments')
    const items = await service.portalItems(DeploymentPage, path, { atMost: limitOf(args) })
    return {
      json: { items },
      text: items.length === 0 ? 'Nothing was deployed yet.' : columns(items.map(rowOf)),
    }
  },
}

function rowOf(deployment: DeploymentRecord): string[] {
  const { deploymentId, activations, deployedBy, createdAt, fileCount, sizeBytes } = deployment
  const [newest] = activations
  return [
    deployment.current ? '*' : '',
    deploymentId,
    newest?.activatedAt ?? createdAt,
    stateWords(deployment),
    `by ${actorText(newest?.activatedBy ?? deployedBy)}`,
    gitText(deployment),
    `${fileCount} files, ${sizeText(sizeBytes)}`,
    newest ? changeText(newest) : '',
    newest ? healthText(newest) : '',
    deployment.error ?? '',
  ].map(printable)
}

/** How it came to be where it is. */
function stateWords({ status, activations: [newest] }: DeploymentRecord): string {
  if (!newest) return status
  const gone = status === 'removed' ? ', files removed' : ''
  return `${reasonText(newest)}${gone}`
}
