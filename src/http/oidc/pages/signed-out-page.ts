import type { Language } from '#base/language.ts'
import { UI_LOCALES } from '#http/request-language.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

import { backToSite, noticePage } from './notice-page.ts'

/** The page after a sign-out, with a way back in: to the account's page, which leads to the sign-in. */
export function signedOutPage(
  {
    site,
    pool,
    language,
  }: { readonly site: Site; readonly pool: Pool; readonly language: Language },
  baseUrl: string,
  cookies: readonly string[],
): Response {
  const account = `${new URL(pool.issuer).pathname}/account?${UI_LOCALES}=${language}`
  return noticePage({
    title: t('sign-out.done'),
    site,
    language,
    tone: 'good',
    text: [t('sign-out.done-text', { site: site.domain })],
    links: [{ href: account, label: t('sign-in.submit') }, backToSite(site, baseUrl)],
    cookies,
  })
}
