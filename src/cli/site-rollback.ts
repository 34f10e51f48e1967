import { DeploymentRecord } from '#sites/deployments/model.ts'

import type { CliCommand } from './command.ts'
import { ServiceRefusal } from './errors.ts'
import { type ServiceClient, at, sitePath } from './service-client.ts'
import { readRuntime, waitForDeployment } from './site-runtime.ts'

const ACTIVATE_MS = 150_000

export const siteRollback: CliCommand = {
  name: 'site rollback',
  summary: 'Roll a site back to the deployment before, or to an earlier one by its id',
  words: ['DOMAIN', '[DEPLOYMENT_ID]'],
  deployToken: true,
  options: [],
  async run(call) {
    const { args, service } = call
    const site = await readRuntime(service, args.word)
    const from = await currentOf(service, site.siteId)
    const body = {
      ...(args.second === undefined ? {} : { deploymentId: args.second }),
      // The faster request wins: a deployment in between is not rolled back.
      ...(from === null ? {} : { from }),
    }
    const path = sitePath(site.siteId, '/deployments/rollback')
    const deployment = await service.portalAs(DeploymentRecord, 'POST', path, {
      body,
      timeoutMs: ACTIVATE_MS,
    })
    const { deploymentId } = deployment
    const { fault, ...runtime } = await waitForDeployment(call, site.siteId, deploymentId)
    const done = `Rolled ${site.domain} back from ${from ?? 'nothing'} to ${deploymentId}`
    return {
      json: { ...deployment, siteDomain: site.domain, from, ...runtime },
      text:
        fault === undefined
          ? `${done}. The runtime runs it now; what later deployments had added is still there.`
          : `${done}, but ${fault}`,
      failed: fault !== undefined,
    }
  },
}

async function currentOf(service: ServiceClient, siteId: string): Promise<string | null> {
  try {
    const path = sitePath(siteId, '/deployments/current')
    return (await service.portalAs(DeploymentRecord, 'GET', path)).deploymentId
  } catch (error) {
    if (error instanceof ServiceRefusal && at(error.error, 'code') === 'DeploymentNotFound')
      return null
    throw error
  }
}
