/** A tenant. Everything the service stores belongs to exactly one. */
export interface Site {
  readonly siteId: string
  readonly domain: string
  /** The name of its administration; null where that is on the domain. */
  readonly adminDomain: string | null
  /** Where its visitors sign in; null where that is on the domain. */
  readonly authDomain: string | null
  /** Where visitors signed in before: the issuers there still serve programs, and their tokens go on. */
  readonly formerAuthDomains: readonly string[]
  readonly region: string
  /** As far as the request path knows it. */
  readonly branding?: SiteBranding
}

/** By what it is reached. */
export type SiteNames = Pick<Site, 'domain' | 'adminDomain' | 'authDomain' | 'formerAuthDomains'>

/** What the hosted pages show of their site. */
export interface SiteBranding {
  /** `#rrggbb` */
  readonly color: string | undefined
  /** Changes with the picture. */
  readonly logoVersion: string | undefined
}

/** Where the site's logo is, on its own domain. */
export const logoPath = (version: string): string => `/admin/public/logo/${version}`
