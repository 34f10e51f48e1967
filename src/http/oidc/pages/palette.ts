import { colord, extend } from 'colord'
import a11y from 'colord/plugins/a11y'
import oklch from 'colord/plugins/oklch'

import { GROUNDS } from './style-sheet.ts'

extend([a11y, oklch])

/** WCAG 2.2, success criteria 1.4.3 (words) and 1.4.11 (parts of controls). */
const WORDS = 4.5
const PARTS = 3
const STEP = 0.01
/** Of lightness, between a button and the same beneath the pointer. */
const OVER = 0.06
/** Chroma (OKLCH) below which a colour has no visible hue. */
const GRAY = 0.04
const WHITE = '#ffffff'
const BLACK = '#000000'

/** What a color becomes in one scheme, as `#rrggbb`. */
export interface Shades {
  readonly button: string
  /** Around a button that could not be distinguished from the page; undefined where it can. */
  readonly buttonLine: string | undefined
  readonly buttonOver: string
  /** Of the words on it. */
  readonly buttonInk: string
  readonly link: string
  readonly focus: string
}

type Scheme = keyof typeof GROUNDS
export type Palette = Readonly<Record<Scheme, Shades>>

/**
 * A site's color, and its nearest shades where it cannot be seen: words have a contrast of 4.5 to what they are on, the edges
 * of controls one of 3. A gray becomes black or white as a link, as the words around it are.
 */
export const paletteOf = (color: string): Palette => ({
  light: shadesOf(color, 'light'),
  dark: shadesOf(color, 'dark'),
})

function shadesOf(color: string, scheme: Scheme): Shades {
  const { ground, surface, field, ink } = GROUNDS[scheme]
  const away = scheme === 'light' ? -STEP : STEP
  const edge = shade(color, { on: [surface], contrast: PARTS, away })
  const link = shade(color, { on: [surface, ground], contrast: WORDS, away })
  const buttonInk = contrast(color, WHITE) >= WORDS ? WHITE : BLACK
  return {
    button: color,
    buttonLine: edge === color ? undefined : edge,
    buttonInk,
    // Further from its words, never nearer.
    buttonOver: lightened(color, buttonInk === WHITE ? -OVER : OVER),
    link: link !== color && isGray(color) ? ink : link,
    focus: shade(color, { on: [surface, field], contrast: PARTS, away }),
  }
}

/** The color itself, or the first step of its lightness on the way to black or white that is seen on all of these. */
function shade(
  color: string,
  goal: { readonly on: readonly string[]; readonly contrast: number; readonly away: number },
): string {
  const isSeen = (candidate: string): boolean =>
    goal.on.every((ground) => contrast(candidate, ground) >= goal.contrast)
  let found = color
  for (let steps = 1; !isSeen(found); steps += 1) found = lightened(color, steps * goal.away)
  return found
}

/** The same hue and chroma, as far as screens have them, and a lightness (OKLCH, 0 to 1) that is so much greater. */
function lightened(color: string, by: number): string {
  const { l, c, h } = colord(color).toOklch()
  const lightness = Math.min(1, Math.max(0, l + by))
  return colord({ l: lightness, c, h, a: 1, ok: true }).toHex()
}

const isGray = (color: string): boolean => colord(color).toOklch().c < GRAY

const contrast = (one: string, other: string): number => colord(one).contrast(other)
