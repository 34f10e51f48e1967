import { originOf } from '#http/request-origin.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { MailEditor } from '#mail/mailboxes/model.ts'

/** For the audit trail. */
export const operatorAt = (request: Request): MailEditor => ({
  actor: OPERATOR,
  origin: originOf(request),
})
