import type { Language } from '#base/language.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import { say } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

/** What a person sees at the root of a site without a page of its own, and where its administration is. */
export const sitePage = (site: Pick<Site, 'domain' | 'branding'>, language: Language): Response =>
  noticePage({
    title: say('site.running', { site: site.domain }),
    site,
    language,
    tone: 'plain',
    text: [say('site.running-text'), say('site.running-more')],
    links: [{ href: '/admin', label: say('page.administration') }],
    headers: { vary: 'accept, accept-language' },
  })
