import { originOf } from '#http/request-origin.ts'
import type { Actor } from '#identity/actor.ts'
import type { DeployTokenEditor } from '#identity/deploy-tokens/service.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { MailEditor } from '#mail/mailboxes/model.ts'

/** Has the authority of a site's super-admins: over every mailbox and every admin. */
export const OPERATOR_ACTOR: Pick<Actor, 'userId' | 'role'> = {
  userId: OPERATOR,
  role: 'super-admin',
}

/** For the audit trail. */
export const operatorAt = (request: Request): DeployTokenEditor & MailEditor => ({
  actor: OPERATOR,
  origin: originOf(request),
})
