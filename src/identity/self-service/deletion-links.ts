import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthEmails, EmailAsker } from '#identity/auth-emails/auth-emails.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { updateDeletionToken } from './deletion-queries.ts'

/** Below the issuer; the token follows. */
export const RESTORE_PATH = 'account/restore'

interface DeletionLink {
  readonly to: string
  readonly expiresAt: Date
  readonly asker: EmailAsker
}

/** A token for the link that takes an account back, and the mail that carries it. */
export function deletionLink(
  { ids, authEmails }: { readonly ids: Ids; readonly authEmails: AuthEmails },
  { issuer }: Pick<Pool, 'issuer'>,
) {
  const token = ids.secret()
  return {
    tokenHash: hashSecret(token),
    mail: (tx: SiteTx, site: Site, { to, expiresAt, asker }: DeletionLink): Promise<void> => {
      const url = `${issuer}/${RESTORE_PATH}?token=${token}`
      return authEmails.send(tx, site, { kind: 'account-deleting', to, url, expiresAt }, asker)
    },
  }
}

/** Mails the owner of an account that is being deleted another link; the one before is of no use. */
export async function mailDeletionLinkAgain(
  deps: Parameters<typeof deletionLink>[0] & { readonly clock: Clock },
  tx: SiteTx,
  { site, pool }: Pick<PoolRequest, 'site' | 'pool'>,
  { user, asker }: { readonly user: User; readonly asker: EmailAsker },
): Promise<void> {
  const link = deletionLink(deps, pool)
  const deletion = await updateDeletionToken(tx, user, link.tokenHash, deps.clock.now())
  if (deletion) await link.mail(tx, site, { to: user.activeEmail, ...deletion, asker })
}
