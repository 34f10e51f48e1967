import type { AuditedActivation } from '#sites/deployments/service.ts'

import { OPERATOR, type SecurityEvent } from './model.ts'

/** For the audit trail: who made which deployment current, and why. */
export function activationEvent({
  deploymentId,
  replacedId,
  reason,
  by,
}: AuditedActivation): SecurityEvent {
  const actor = by.type === 'operator' ? OPERATOR : [by.type, by.name ?? ''].join(' ').trim()
  const detail = { deploymentId, reason, replaced: replacedId ?? '' }
  return { event: 'deployment.activated', actor, detail }
}
