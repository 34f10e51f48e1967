import { BACK_TO_SITE, noticePage } from '#http/oidc/pages/notice-page.ts'
import type { Site } from '#sites/site.ts'

/** What a person sees at the root of a site without a page of its own, and where its administration is. */
export const sitePage = (site: Pick<Site, 'domain'>, path: string): Response =>
  path.startsWith('/admin') ? adminPage(site) : rootPage(site)

const rootPage = (site: Pick<Site, 'domain'>): Response =>
  noticePage({
    title: `${site.domain} is running`,
    site,
    tone: 'good',
    text: [
      'The site has no page for this address yet. Its data and its sign-in work.',
      'Files in the folder “public” of its next deployment appear here.',
    ],
    links: [{ href: '/admin', label: 'Administration' }],
  })

const adminPage = (site: Pick<Site, 'domain'>): Response =>
  noticePage({
    title: 'Administration',
    site,
    tone: 'good',
    text: [
      'The people who run this site work with it through a program that signs them in: its routes are below this address.',
      'Such a program finds the hosted sign-in in the settings of the site, at /admin/public/config.',
    ],
    links: [BACK_TO_SITE],
  })
