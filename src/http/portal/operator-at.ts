import { originOf } from '#http/request-origin.ts'
import type { DeployTokenEditor } from '#identity/deploy-tokens/service.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { MailEditor } from '#mail/mailboxes/model.ts'
import type { MailReader } from '#mail/mailboxes/service.ts'

/** May read every mailbox, as the site's super-admins may. */
export const OPERATOR_READER: MailReader = { userId: OPERATOR, role: 'super-admin' }

/** For the audit trail. */
export const operatorAt = (request: Request): DeployTokenEditor & MailEditor => ({
  actor: OPERATOR,
  origin: originOf(request),
})
