import { BACK_TO_SITE, noticePage } from '#http/oidc/pages/notice-page.ts'
import type { Language } from '#languages/language.ts'
import { say } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

type PageSite = Pick<Site, 'domain' | 'branding'>

/** What a person sees at the root of a site without a page of its own, and where its administration is. */
export const sitePage = (
  { site, language }: { readonly site: PageSite; readonly language: Language },
  path: string,
): Response => (path.startsWith('/admin') ? adminPage(site, language) : rootPage(site, language))

const rootPage = (site: PageSite, language: Language): Response =>
  noticePage({
    title: say('site.running', { site: site.domain }),
    site,
    language,
    tone: 'good',
    text: [say('site.running-text'), say('site.running-more')],
    links: [{ href: '/admin', label: say('page.administration') }],
  })

const adminPage = (site: PageSite, language: Language): Response =>
  noticePage({
    title: say('page.administration'),
    site,
    language,
    tone: 'good',
    text: [say('site.admin-text'), say('site.admin-more')],
    links: [BACK_TO_SITE],
  })
