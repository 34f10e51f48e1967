import type { Site } from '#sites/site.ts'

import { noticePage } from './pages/notice-page.ts'

/** Where a sign-out ends that names no address to return to. */
export const signedOutPage = (site: Site, cookies: readonly string[] = []): Response =>
  noticePage({
    title: 'You are signed out',
    site,
    tone: 'good',
    text: [`You have left ${site.domain} on this browser. You can close this page.`],
    cookies,
  })
