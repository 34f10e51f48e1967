import { isTransparent } from './html-colors.ts'

const ZERO = /^(?:0*\.)?0+(?:px|pt|em|rem|%|in|cm|mm)?$/i
const FONT_SIZE = /^(\d{0,6}\.?\d{1,6})(px|pt|em|rem|%)?$/i
/** Of the font around it, or the page's, below which nothing is seen; lengths are in pixels or points. */
const TINY = { em: 0.1, rem: 0.1, '%': 10 } as const
const TINY_LENGTH = 1

type Declarations = ReadonlyMap<string, string>

/** Whether an element is hidden, with all that is in it, in one of the ways in which senders do that. */
export function isHiding(declared: Declarations): boolean {
  const value = (property: string): string => declared.get(property)?.toLowerCase() ?? ''
  const isZero = (property: string): boolean => ZERO.test(value(property))
  return (
    value('display') === 'none' ||
    value('mso-hide') === 'all' ||
    /^(?:hidden|collapse)$/.test(value('visibility')) ||
    isZero('opacity') ||
    isZero('max-height') ||
    (isZero('height') && value('overflow') === 'hidden') ||
    isTransparent(value('color'))
  )
}

/** Whether the font is too small to be seen; undefined where it is as large as that around it, or nearly so. */
export function isTiny(declared: Declarations): boolean | undefined {
  const [, size, unit = ''] = FONT_SIZE.exec(declared.get('font-size') ?? '') ?? []
  if (size === undefined) return undefined
  const relative = Object.entries(TINY).find(([name]) => name === unit.toLowerCase())?.[1]
  if (relative === undefined) return Number(size) <= TINY_LENGTH
  return Number(size) < relative ? true : undefined
}
