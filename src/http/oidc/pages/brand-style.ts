import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { Html } from './html.ts'
import { type Shades, paletteOf } from './palette.ts'

/** Further ones are worked out again. */
const MAX_COLORS = 1000

export interface BrandStyle {
  readonly element: Html
  /** SHA-256 of the sheet, base64, for the content security policy. */
  readonly hash: string
}

const known = new LRUCache<string, BrandStyle>({ max: MAX_COLORS, memoMethod: styleOf })

/** What a site's color (`#rrggbb`) changes in the style sheet of all pages. */
export const brandStyleOf = (color: string): BrandStyle => known.memo(color)

function styleOf(color: string): BrandStyle {
  const { light, dark } = paletteOf(color)
  const sheet = `:root{${declarations(light)}}@media (prefers-color-scheme:dark){:root{${declarations(dark)}}}`
  return {
    element: Html.trusted(`<style>${sheet}</style>`),
    hash: createHash('sha256').update(sheet).digest('base64'),
  }
}

const declarations = ({
  button,
  buttonLine = 'transparent',
  buttonOver,
  buttonInk,
  link,
  focus,
}: Shades): string =>
  `--button:${button};--button-line:${buttonLine};--button-over:${buttonOver};--button-ink:${buttonInk};--link:${link};--focus:${focus}`
