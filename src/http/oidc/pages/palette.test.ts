import { colord } from 'colord'
import { describe, expect, test } from 'vitest'

import { type Shades, paletteOf } from './palette.ts'
import { GROUNDS } from './style-sheet.ts'

/** 4913 colors: each channel in sixteen steps. */
const COLORS = Array.from({ length: 17 ** 3 }, (_, index) => {
  const channels = [index % 17, Math.floor(index / 17) % 17, Math.floor(index / 289)]
  return `#${channels
    .map((step) =>
      Math.min(255, step * 16)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
})

function faultsOf(
  { button, buttonLine = button, buttonInk, buttonOver, link, focus }: Shades,
  scheme: 'light' | 'dark',
) {
  const { ground, surface, field } = GROUNDS[scheme]
  const wanted = [
    ['words on a button', buttonInk, button, 4.5],
    ['words on a button beneath the pointer', buttonInk, buttonOver, 4.5],
    ['the edge of a button', buttonLine, surface, 3],
    ['a link', link, surface, 4.5],
    ['a link beside the form', link, ground, 4.5],
    ['the focus', focus, surface, 3],
    ['the focus of a field', focus, field, 3],
  ] as const
  return wanted.filter(([, one, other, contrast]) => contrastOf(one, other) < contrast)
}

/** As WCAG 2.2 defines it, independent of the library that the palette uses. */
function contrastOf(one: string, other: string): number {
  const [lighter = 1, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

describe('a palette', () => {
  test.each(['light', 'dark'] as const)('of any color can be seen in the %s scheme', (scheme) => {
    const faults = COLORS.flatMap((color) =>
      faultsOf(paletteOf(color)[scheme], scheme).map(([what, ...values]) => [color, what, values]),
    )
    expect(faults).toEqual([])
  })

  test('leaves a color alone that can be seen', () => {
    const { light, dark } = paletteOf('#c2410c')
    expect([light.button, light.link, light.focus]).toEqual(['#c2410c', '#c2410c', '#c2410c'])
    expect([light.buttonLine, dark.buttonLine, dark.button]).toEqual([
      undefined,
      undefined,
      '#c2410c',
    ])
  })

  test('keeps the hue of one that cannot, and goes no further than it must', () => {
    const { light, dark } = paletteOf('#ffe600')
    expect([light.button, light.buttonInk, dark.link]).toEqual(['#ffe600', '#000000', '#ffe600'])
    expect(Math.abs(colord(light.link).toHsl().h - colord('#ffe600').toHsl().h)).toBeLessThan(12)
    expect(contrastOf(light.link, GROUNDS.light.ground)).toBeLessThan(5)
    expect(contrastOf(light.buttonLine ?? '', GROUNDS.light.surface)).toBeLessThan(3.5)
  })

  test('has no gray links', () => {
    expect(paletteOf('#000000').dark.link).toBe(GROUNDS.dark.ink)
    expect(paletteOf('#ffffff').light.link).toBe(GROUNDS.light.ink)
  })
})
