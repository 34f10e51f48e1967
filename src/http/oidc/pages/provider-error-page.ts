import type { Language } from '#base/language.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { FederatedSignInRefusal } from '#identity/federation/federated-accounts.ts'
import { type Words, say } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

import { noticePage } from './notice-page.ts'

/** Tells a user of Google who is not signed in what they can do instead. */
export function providerErrorPage(
  { site, language }: { readonly site: Site; readonly language: Language },
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
    language,
    tone: 'bad',
    text: TEXTS[reason],
    links: [{ href: `${pathname}/login?${other.toString()}`, label: LABELS[reason] }],
    status: 403,
    cookies,
  })
}

const TITLES: Record<FederatedSignInRefusal, Words> = {
  'address-missing': say('google.address-missing'),
  'address-unverified': say('google.address-unverified'),
  'address-taken': say('google.address-taken'),
  'sign-up-disabled': say('google.sign-up-disabled'),
  'account-not-active': say('google.account-not-active'),
}

const TEXTS: Record<FederatedSignInRefusal, readonly Words[]> = {
  'address-missing': [say('google.address-missing-text')],
  'address-unverified': [say('google.address-unverified-text')],
  'address-taken': [say('google.address-taken-text'), say('google.address-taken-more')],
  'sign-up-disabled': [say('google.sign-up-disabled-text')],
  'account-not-active': [say('google.account-not-active-text')],
}

const LABELS: Record<FederatedSignInRefusal, Words> = {
  'address-missing': say('google.another-way'),
  'address-unverified': say('google.another-way'),
  'address-taken': say('google.to-your-account'),
  'sign-up-disabled': say('sign-in.submit'),
  'account-not-active': say('google.other-account'),
}
