import { createHash } from 'node:crypto'

import { AppError } from '#base/app-error.ts'
import { type Picture, readPicture } from '#base/picture.ts'
import type { Audit } from '#platform/postgres/audit.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteBranding, Site, SiteNames } from '#sites/site.ts'
import type { Sites } from '#sites/sites.ts'

import { type SiteBrandingChange, parseColor } from './model.ts'
import { selectSiteBranding, selectSiteLogo, upsertSiteBranding } from './queries.ts'

/** The color and the logo of a site's hosted pages. */
export class SiteBrandings {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sites: Sites
    },
  ) {
    this.#deps = deps
  }

  async get({ siteId }: Pick<Site, 'siteId'>): Promise<SiteBranding> {
    const stored = await this.#deps.database.withSite(siteId, selectSiteBranding)
    return { color: stored?.color ?? undefined, logoVersion: stored?.logo_version ?? undefined }
  }

  /** The next page shows it, on every replica. 400 for a logo that is no such picture. */
  async change(
    site: Pick<Site, 'siteId'> & SiteNames,
    { color, logo }: SiteBrandingChange,
    audit: Audit<'branding.changed'>,
  ): Promise<SiteBranding> {
    const { database, clock, sites } = this.#deps
    const change = {
      ...(color !== undefined && { color: color === null ? null : parseColor(color) }),
      ...(logo !== undefined && {
        logo: logo === null ? null : versioned(readPicture('logo', logo)),
      }),
    }
    await database.withSite(site.siteId, async (tx) => {
      await upsertSiteBranding(tx, change, clock.now())
      const detail = { changed: Object.keys(change).sort().join(' ') }
      await audit(tx, { event: 'branding.changed', detail })
      await sites.announce(tx, [site])
    })
    return this.get(site)
  }

  /** 404 `RouteNotFound` for a version that is not the site's any more. */
  async logo({ siteId }: Pick<Site, 'siteId'>, version: string): Promise<Picture> {
    const logo = await this.#deps.database.withSite(siteId, (tx) => selectSiteLogo(tx, version))
    if (!logo) throw new AppError('RouteNotFound', 'The site has no such logo any more')
    return logo
  }
}

const versioned = (picture: Picture) => ({
  ...picture,
  version: createHash('sha256').update(picture.bytes).digest('hex').slice(0, 16),
})
