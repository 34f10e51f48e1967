import { isTransparent } from './html-colors.ts'

const ZERO = /^(?:0*\.)?0+(?:px|pt|em|rem|%|in|cm|mm)?$/i
const FONT_SIZE = /^(\d{0,6}\.?\d{1,6})(px|pt|em|rem|%)?$/i
/** Of the font around it, or the page's, below which nothing is seen; lengths are in pixels or points. */
const TINY = { em: 0.1, rem: 0.1, '%': 10 } as const
const TINY_LENGTH = 1

/** `font: 0/0 a`. */
const ZERO_FONT = /(?:^|\s)0(?:px|pt|em|rem|%)?(?:\s*\/|\s)/i
const CLIPPING = /^(?:hidden|clip)\b/i
/** Pixels to the left of the page, or above it, and the like. */
const FAR_AWAY = /^-\d{3,6}(?:\.\d{1,6})?(?:px|pt|em|rem|%)?$/i
/** Below it nothing can be read. */
const SEEN_OPACITY = 0.05

type Declarations = ReadonlyMap<string, string>

/**
 * Whether an element is hidden, with all that is in it, in one of the ways in which senders do that. Not what Outlook alone hides
 * (`mso-hide`): of such elements it has another form.
 */
export function isHiding(declared: Declarations): boolean {
  const value = (property: string): string => declared.get(property)?.toLowerCase() ?? ''
  const anyIs = (pattern: RegExp, ...properties: readonly string[]): boolean =>
    properties.some((property) => pattern.test(value(property)))
  return (
    value('display') === 'none' ||
    anyIs(/^(?:hidden|collapse)$/, 'visibility') ||
    isFaint(value('opacity')) ||
    (anyIs(CLIPPING, 'overflow', 'overflow-x', 'overflow-y') &&
      anyIs(ZERO, 'height', 'max-height', 'width')) ||
    (anyIs(/^(?:absolute|fixed)$/, 'position') &&
      anyIs(FAR_AWAY, 'left', 'right', 'top', 'bottom')) ||
    anyIs(FAR_AWAY, 'text-indent') ||
    isTransparent(value('color'))
  )
}

function isFaint(opacity: string): boolean {
  const [, number = '', percent] = /^(-?\d{0,6}\.?\d{1,6})(%)?$/.exec(opacity) ?? []
  if (number === '') return false
  return Number(number) / (percent === undefined ? 1 : 100) < SEEN_OPACITY
}

/** Whether the font is too small to be seen; undefined where it is as large as that around it, or nearly so. */
export function isTiny(declared: Declarations): boolean | undefined {
  const [, size, unit = ''] = FONT_SIZE.exec(fontSizeOf(declared)) ?? []
  if (size === undefined) return undefined
  const relative = Object.entries(TINY).find(([name]) => name === unit.toLowerCase())?.[1]
  if (relative === undefined) return Number(size) <= TINY_LENGTH
  return Number(size) < relative ? true : undefined
}

function fontSizeOf(declared: Declarations): string {
  const size = declared.get('font-size')
  if (size !== undefined) return size
  return ZERO_FONT.test(declared.get('font') ?? '') ? '0' : ''
}
