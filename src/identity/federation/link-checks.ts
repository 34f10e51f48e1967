import { AppError } from '#base/app-error.ts'
import type {
  AuthorizationError,
  LoginAttempt,
} from '#identity/authorization/authorization-request.ts'

import type { BrowserCookies } from './authorization-redirects.ts'
import { isBindingOf } from './link-tickets.ts'
import type { Links, LinksDeps } from './links.ts'
import { LoginRefused, linkRefused } from './login-refusals.ts'
import type { LinkingUser } from './login-states.ts'

export interface LinkCheckDeps extends LinksDeps {
  readonly links: Links
}

/**
 * Returns the account's owner, whose browser this must be: the authorize URL alone proves nothing, since somebody else who
 * opened it would link their identity to the sender's account. 403 `Forbidden` without a valid ticket, and in a browser
 * where somebody else is signed in. `LoginRefused` in a browser that did not request the link, and when the account cannot
 * be linked.
 */
export async function checkLinkRequest(
  { tickets, sessions, links }: LinkCheckDeps,
  { site, request }: LoginAttempt,
  cookies: BrowserCookies,
): Promise<LinkingUser> {
  const { pool } = request
  const ticket = tickets.read(request)
  if (!ticket) throw noTicket()
  const { linker } = ticket
  const session = await sessions.find(site, pool, cookies.sessionToken)
  if (session && session.sub !== linker.sub) throw otherAccount()
  const isRequester = cookies.linkBinding !== undefined && isBindingOf(ticket, cookies.linkBinding)
  if (!session && !isRequester) throw new LoginRefused(NOT_SIGNED_IN)
  const reason = await links.refusalOf(site, pool, linker)
  if (reason) throw linkRefused(reason, linker)
  return linker
}

const NOT_SIGNED_IN: AuthorizationError = {
  error: 'login_required',
  description: 'This browser is not signed in to the account that asked to link',
}

const noTicket = (): AppError =>
  new AppError(
    'Forbidden',
    'This address for adding Google to an account is no longer valid. Go back to your account and start again.',
  )

const otherAccount = (): AppError =>
  new AppError(
    'Forbidden',
    'Adding Google was started from another account than the one that is signed in here. Go back to your account and start again.',
  )
