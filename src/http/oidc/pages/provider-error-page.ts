import type { Language } from '#base/language.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { FederatedSignInRefusal } from '#identity/federation/federated-accounts.ts'
import { type LocalizedText, t } from '#languages/message.ts'
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

const TITLES: Record<FederatedSignInRefusal, LocalizedText> = {
  'address-missing': t('google.address-missing'),
  'address-unverified': t('google.address-unverified'),
  'address-taken': t('google.address-taken'),
  'sign-up-disabled': t('google.sign-up-disabled'),
  'account-not-active': t('google.account-not-active'),
}

const TEXTS: Record<FederatedSignInRefusal, readonly LocalizedText[]> = {
  'address-missing': [t('google.address-missing-text')],
  'address-unverified': [t('google.address-unverified-text')],
  'address-taken': [t('google.address-taken-text'), t('google.address-taken-more')],
  'sign-up-disabled': [t('google.sign-up-disabled-text')],
  'account-not-active': [t('google.account-not-active-text')],
}

const LABELS: Record<FederatedSignInRefusal, LocalizedText> = {
  'address-missing': t('google.another-way'),
  'address-unverified': t('google.another-way'),
  'address-taken': t('google.to-your-account'),
  'sign-up-disabled': t('sign-in.submit'),
  'account-not-active': t('google.other-account'),
}
