import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { FederatedSignInRefusal } from '#identity/federation/federated-accounts.ts'
import type { Site } from '#sites/site.ts'

import { noticePage } from './notice-page.ts'

/** Tells a user of Google who is not signed in what they can do instead. */
export function providerErrorPage(
  site: Site,
  reason: FederatedSignInRefusal,
  {
    request,
    cookies,
  }: { readonly request: AuthorizationRequest; readonly cookies: readonly string[] },
): Response {
  const { pool, query } = request
  const { pathname } = new URL(pool.issuer)
  const other = new URLSearchParams(query)
  // The link leads to the page with every way to sign in.
  other.delete('identity_provider')
  return noticePage({
    title: TITLES[reason],
    site,
    tone: 'bad',
    text: TEXTS[reason],
    links: [{ href: `${pathname}/login?${other.toString()}`, label: LABELS[reason] }],
    status: 403,
    cookies,
  })
}

const TITLES: Record<FederatedSignInRefusal, string> = {
  'address-missing': 'Google did not tell your address',
  'address-unverified': 'Your address at Google is not confirmed',
  'address-taken': 'You already have an account',
  'sign-up-disabled': 'There is no account for you here',
  'account-not-active': 'This account cannot be used',
}

const TEXTS: Record<FederatedSignInRefusal, readonly string[]> = {
  'address-missing': [
    'An account needs an email address, and Google did not share one. Allow it when Google asks, or sign in another way.',
  ],
  'address-unverified': [
    'Google has not confirmed that your email address is yours. Confirm it at Google, or sign in another way.',
  ],
  'address-taken': [
    'There is an account with your email address that is not connected to Google. Sign in as you usually do.',
    'Once you are signed in, you can add Google to your account.',
  ],
  'sign-up-disabled': [
    'New accounts are not open to everybody here. If you have an account, sign in as you usually do.',
  ],
  'account-not-active': ['Ask the people who run this site for help.'],
}

const LABELS: Record<FederatedSignInRefusal, string> = {
  'address-missing': 'Sign in another way',
  'address-unverified': 'Sign in another way',
  'address-taken': 'Sign in to your account',
  'sign-up-disabled': 'Sign in',
  'account-not-active': 'Sign in with another account',
}
