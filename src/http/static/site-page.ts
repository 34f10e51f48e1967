import type { Language } from '#base/language.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import { t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

/** What a person sees at the root of a site without a page of its own, and where its administration is. */
export const sitePage = (site: Pick<Site, 'domain' | 'branding'>, language: Language): Response =>
  noticePage({
    title: t('site.running', { site: site.domain }),
    site,
    language,
    tone: 'plain',
    text: [t('site.running-text'), t('site.running-more')],
    links: [{ href: '/admin', label: t('page.administration') }],
    headers: { vary: 'accept, accept-language' },
  })
