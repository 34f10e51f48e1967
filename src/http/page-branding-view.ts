import { type Static, Type } from '@sinclair/typebox'

import { type Shades, paletteOf } from '#http/oidc/pages/palette.ts'
import { type SiteBranding, logoPath } from '#sites/site.ts'

const ShadesView = Type.Object({
  button: Type.String(),
  buttonText: Type.String(),
  link: Type.String(),
})

/** How the hosted pages of a site look. */
export const PageBrandingView = Type.Object(
  {
    /** As it was set, `#rrggbb`; null for the pages' own colors. */
    color: Type.Union([Type.String(), Type.Null()]),
    /** Its path on the site's domain; null for none. */
    logo: Type.Union([Type.String(), Type.Null()]),
    /** What becomes of the color where it could not be seen well enough; null without one. */
    shades: Type.Union([Type.Object({ light: ShadesView, dark: ShadesView }), Type.Null()]),
  },
  { title: 'PageBranding' },
)
export type PageBrandingView = Static<typeof PageBrandingView>

export function pageBrandingView({ color, logoVersion }: SiteBranding): PageBrandingView {
  const palette = color === undefined ? undefined : paletteOf(color)
  return {
    color: color ?? null,
    logo: logoVersion === undefined ? null : logoPath(logoVersion),
    shades: palette ? { light: shadesView(palette.light), dark: shadesView(palette.dark) } : null,
  }
}

const shadesView = ({ button, buttonInk, link }: Shades): Static<typeof ShadesView> => ({
  button,
  buttonText: buttonInk,
  link,
})
