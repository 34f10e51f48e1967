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
  /** Of the window's icon. */
  readonly icon: string
}

const known = new LRUCache<string, BrandStyle>({ max: MAX_COLORS })

/** What a site's color (`#rrggbb`) changes in the style sheet of all pages. */
export function brandStyleOf(color: string): BrandStyle {
  const style = known.get(color) ?? styleOf(color)
  known.set(color, style)
  return style
}

function styleOf(color: string): BrandStyle {
  const { light, dark } = paletteOf(color)
  const sheet = `:root{${declarations(light)}}@media (prefers-color-scheme:dark){:root{${declarations(dark)}}}`
  return {
    element: Html.trusted(`<style>${sheet}</style>`),
    hash: createHash('sha256').update(sheet).digest('base64'),
    icon: color,
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
