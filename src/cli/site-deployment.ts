import { DeploymentChanges } from '#sites/deployments/deployment-changes.ts'
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
import { ServiceRefusal } from './errors.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const MARKS = { added: '+', changed: '~', removed: '-' } as const

export const siteDeployment: CliCommand = {
  name: 'site deployment',
  summary: 'Show a deployment: each time that it became current, and which files it changed',
  words: ['DOMAIN', 'DEPLOYMENT_ID'],
  deployToken: true,
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, `/deployments/${encodeURIComponent(args.second ?? '')}`)
    const deployment = await service.portalAs(DeploymentRecord, 'GET', path)
    const changes = await readChanges(service, path)
    const words =
      typeof changes === 'string' ? [changes] : [againstWords(changes), ...linesOf(changes)]
    return {
      json: { ...deployment, changes: typeof changes === 'string' ? null : changes },
      text: [columns(rowsOf(deployment)), '', ...words].map((line) => line.trimEnd()).join('\n'),
    }
  },
}

/** Or why there are none. */
async function readChanges(
  service: ServiceClient,
  path: string,
): Promise<DeploymentChanges | string> {
  try {
    return await service.portalAs(DeploymentChanges, 'GET', `${path}/changes`)
  } catch (error) {
    if (error instanceof ServiceRefusal) return error.message
    throw error
  }
}

const rowsOf = (deployment: DeploymentRecord): string[][] =>
  [
    ['deployment', deployment.deploymentId],
    ['status', deployment.current ? 'current' : deployment.status],
    ...(deployment.error === null ? [] : [['error', deployment.error]]),
    ['deployed', `${deployment.createdAt} by ${actorText(deployment.deployedBy)}`],
    ['commit', gitText(deployment) || 'unknown'],
    [
      'artifact',
      `${deployment.artifactDirectory}: ${deployment.fileCount} files, ${sizeText(deployment.sizeBytes)}`,
    ],
    ...deployment.activations.map((activation) => [
      reasonText(activation),
      `${activation.activatedAt} by ${actorText(activation.activatedBy)}, in place of ${activation.replacedDeploymentId ?? 'nothing'} ${changeText(activation)} ${healthText(activation)}`,
    ]),
  ].map((row) => row.map(printable))

const againstWords = ({ replacedDeploymentId }: DeploymentChanges): string =>
  `Against ${replacedDeploymentId ?? 'nothing'}:`

function linesOf({ files, definition }: DeploymentChanges): string[] {
  const entries = definition.map(
    ({ section, name, action }) => `${MARKS[action]} croft.json: ${section} ${name}`,
  )
  const paths = (['added', 'changed', 'removed'] as const).flatMap((action) =>
    files[action].map((path) => `${MARKS[action]} ${path}`),
  )
  const lines = [...entries, ...paths].map(printable)
  return lines.length === 0 ? ['no difference'] : lines
}
