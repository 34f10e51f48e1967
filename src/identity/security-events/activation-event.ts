import { type Actor, originOfActor } from '#base/actor.ts'
import { deployerOf } from '#sites/deployments/deployer.ts'
import type { AuditedActivation } from '#sites/deployments/deployments.ts'

import type { SecurityEvent } from './model.ts'

/** For the audit trail: who made which deployment current, and why. */
export function activationEvent({
  deploymentId,
  replacedId,
  reason,
  by,
}: AuditedActivation): SecurityEvent {
  const detail = { deploymentId, reason, replaced: replacedId ?? '' }
  const origin = originOfActor(by)
  return { event: 'deployment.activated', actor: deployerName(by), origin, detail }
}

/** As the audit trail names who deploys. */
export function deployerName(by: Actor): string {
  const { type, name } = deployerOf(by)
  return [type, name ?? ''].join(' ').trim()
}
