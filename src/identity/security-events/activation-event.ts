import { OPERATOR } from '#base/actor.ts'
import type { DeploymentActor } from '#sites/deployments/actor.ts'
import type { AuditedActivation } from '#sites/deployments/service.ts'

import type { SecurityEvent } from './model.ts'

/** For the audit trail: who made which deployment current, and why. */
export function activationEvent({
  deploymentId,
  replacedId,
  reason,
  by,
}: AuditedActivation): SecurityEvent {
  const detail = { deploymentId, reason, replaced: replacedId ?? '' }
  return { event: 'deployment.activated', actor: deployerName(by), detail }
}

/** As the audit trail names who deploys. */
export const deployerName = ({ type, name }: DeploymentActor): string =>
  type === 'operator' ? OPERATOR : [type, name ?? ''].join(' ').trim()
