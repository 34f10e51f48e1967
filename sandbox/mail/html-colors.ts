import { colord, extend } from 'colord'
import names from 'colord/plugins/names'

import { splitOutside } from './style-declarations.ts'

extend([names])

/** WCAG 2.2, success criterion 1.4.3. */
export const READABLE = 4.5
const WHITE = '#ffffff'
const BLACK = '#000000'
/** Luminance above which black is further away than white. */
const MIDDLE = 0.179
const STEPS = 10
const MAX_LENGTH = 60
const IMAGE =
  /^(?:url|image|image-set|cross-fade|element|paint|-webkit-image-set|(?:-[a-z]+-)?(?:repeating-)?(?:linear|radial|conic)-gradient)\(/i
const GRADIENT = /gradient\((.*)\)$/is

export interface Background {
  /** As `#rrggbb`; undefined where there is none. */
  readonly color: string | undefined
  /** Whether it has a picture, which is not shown. */
  readonly hasImage: boolean
}

/** A color as `#rrggbb`, on what it is painted on; undefined for none, and for what shows nothing. */
export function colorOn(background: string, text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const color = colord(text)
  if (!color.isValid()) return undefined
  const { r, g, b, a } = color.toRgb()
  if (a < 0.1) return undefined
  return a === 1 ? color.toHex() : mixed(background, colord({ r, g, b }).toHex(), a)
}

/** What attributes hold, with `#` or without. */
export const attributeColor = (background: string, text: string): string | undefined =>
  colorOn(background, /^(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text.trim()) ? `#${text.trim()}` : text)

/** Whether a color is one, and paints nothing. */
export function isTransparent(text: string): boolean {
  if (text.length > MAX_LENGTH) return false
  const color = colord(text)
  return color.isValid() && color.toRgb().a < 0.1
}

/** What `background` says: the color in it, or else the first one of a gradient. */
export function backgroundOn(background: string, value: string): Background {
  const tokens = tokensOf(value)
  const isImage = (token: string) => IMAGE.test(token)
  const plain = tokens.filter((token) => !isImage(token)).map((token) => colorOn(background, token))
  const stops = tokens.flatMap((token) => tokensOf(GRADIENT.exec(token)?.[1] ?? ''))
  const color =
    plain.findLast((one) => one !== undefined) ??
    stops.map((stop) => colorOn(background, stop)).find((one) => one !== undefined)
  return { color, hasImage: tokens.some(isImage) }
}

/** What blanks and commas divide outside of brackets. */
const tokensOf = (value: string): string[] =>
  splitOutside(value.replaceAll(/\s+/g, ' '), ',').flatMap((layer) => splitOutside(layer, ' '))

/** The nearest shade of a color that can be read on that background. */
export function readableOn(background: string, textColor: string): string {
  const target = farthestFrom(background)
  for (let step = 0; step < STEPS; step += 1) {
    const shade = mixed(textColor, target, step / STEPS)
    if (contrast(shade, background) >= READABLE) return shade
  }
  return target
}

/** Black or white. */
export const farthestFrom = (background: string): string =>
  luminance(background) > MIDDLE ? BLACK : WHITE

/** WCAG 2.2, contrast ratio. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const part = channel / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const channels = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

function mixed(from: string, to: string, share: number): string {
  const other = channels(to)
  return `#${channels(from)
    .map((channel, at) => Math.round(channel + ((other[at] ?? 0) - channel) * share))
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')}`
}
