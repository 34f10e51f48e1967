import {
  VisitorAccounts,
  type VisitorAccountsDeps,
} from '#identity/visitor-accounts/visitor-accounts.ts'

import { AccountDeletions, type AccountDeletionsDeps } from './deletions.ts'
import { OwnAccounts, type OwnAccountsDeps } from './own-accounts.ts'

/** Accounts as their owners look after them, and those of visitors as admins do. */
export interface OwnAccountServices {
  readonly visitorAccounts: VisitorAccounts
  readonly ownAccounts: OwnAccounts
  readonly accountDeletions: AccountDeletions
}

export function openOwnAccounts(
  deps: VisitorAccountsDeps & OwnAccountsDeps & Omit<AccountDeletionsDeps, 'visitorAccounts'>,
): OwnAccountServices {
  const visitorAccounts = new VisitorAccounts(deps)
  return {
    visitorAccounts,
    ownAccounts: new OwnAccounts(deps),
    accountDeletions: new AccountDeletions({ ...deps, visitorAccounts }),
  }
}
