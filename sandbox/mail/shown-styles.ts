import { colorsOf, type ElementColors, WHITE_PAGE, type ShownColors } from './element-colors.ts'
import { isTransparent } from './html-colors.ts'
import { declarationsOf, styleOf } from './style-declarations.ts'

const COLORED =
  /\b(?:bgcolor|color|background(?:-color|-image)?)\s{0,10}[:=]|<body[^<>]{1,500}\btext\s{0,10}=/i
const PAGES = new Set(['body', 'html'])
const COLOR_ATTRIBUTES = ['bgcolor', 'color', 'text', 'background'] as const
const SAYING_ELEMENTS = new Set(['a', 'p'])
const SAYING_ATTRIBUTES = ['style', 'hidden', ...COLOR_ATTRIBUTES] as const
const COLOR_PROPERTIES = ['background', 'background-color', 'background-image', 'color'] as const
const HIDDEN = 'display:none'

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

type Attributes = Record<string, string>

interface Element {
  readonly colors: ElementColors
  readonly isHidden: boolean
  /** Whether its font is too small to be seen. */
  readonly isTiny: boolean
  /** Where no block may begin. */
  readonly isInParagraph: boolean
}

const ROOT: Element = { colors: WHITE_PAGE, isHidden: false, isTiny: false, isInParagraph: false }

type Declarations = ReadonlyMap<string, string>

/** Whether HTML may bring colors. */
export const isColored = (html: string): boolean => COLORED.test(html)

export interface ShownStylesOptions {
  readonly hasColors: boolean
  /** Whether an element of that name, inside so many others, is shown. */
  readonly isKept: (name: string, depth: number) => boolean
}

/**
 * Follows the elements of a message as they open and close, and changes their styles: color and background are kept together,
 * words can be read on what they are on, and what is hidden stays hidden.
 */
export class ShownStyles {
  readonly #hasColors: boolean
  readonly #isKept: (name: string, depth: number) => boolean
  readonly #open: Element[] = [ROOT]

  /** Elements that are not kept leave what is in them, and no colors. */
  constructor({ hasColors, isKept }: ShownStylesOptions) {
    this.#hasColors = hasColors
    this.#isKept = isKept
  }

  /** Changes the attributes in place. */
  enter(name: string, attributes: Attributes): void {
    const above = this.#top
    if (above.isHidden || !saysNothing(name, attributes)) this.#enterStyled(name, attributes)
    else this.#open.push(above)
  }

  leave(): void {
    if (this.#open.length > 1) this.#open.pop()
  }

  /** Whether words cannot be seen where it is. */
  get hidesWords(): boolean {
    return this.#top.isHidden || this.#top.isTiny
  }

  #enterStyled(name: string, attributes: Attributes): void {
    const above = this.#top
    const declared = declarationsOf(attributes['style'] ?? '')
    const isHidden = above.isHidden || isHidingElement(name, attributes, declared)
    const { colors, styles } = this.#colorsOf(name, attributes, declared)
    this.#open.push({
      colors,
      isHidden,
      isTiny: isTiny(declared) ?? above.isTiny,
      isInParagraph: above.isInParagraph || name === 'p',
    })
    for (const attribute of COLOR_ATTRIBUTES) {
      if (attribute in attributes) delete attributes[attribute]
    }
    for (const property of COLOR_PROPERTIES) declared.delete(property)
    const kept = new Map([...(PAGES.has(name) ? [] : declared), ...styles])
    setStyle(attributes, isHidden ? HIDDEN : styleOf(kept))
  }

  /** A page inside a paragraph would end it: its colors are not kept either. */
  #colorsOf(
    name: string,
    attributes: Attributes,
    declared: ReadonlyMap<string, string>,
  ): ShownColors {
    const { colors: above, isInParagraph } = this.#top
    if (!this.#hasColors) return { colors: above, styles: new Map() }
    const shown = colorsOf({ name, attributes, declared, above })
    const isEnding = isInParagraph && PAGES.has(name)
    if (!isEnding && this.#isKept(name, this.#open.length - 1)) return shown
    const lostImage = shown.colors.lostImage || shown.styles.has('background-color')
    return { colors: { ...above, lostImage }, styles: new Map() }
  }

  get #top(): Element {
    return this.#open.at(-1) ?? ROOT
  }
}

/** Whether an element is shown as what is around it, as most are. */
const saysNothing = (name: string, attributes: Attributes): boolean =>
  !SAYING_ELEMENTS.has(name) && SAYING_ATTRIBUTES.every((attribute) => !(attribute in attributes))

/** A page that hides all of itself shows it by a script or a style sheet, neither of which is kept. */
const isHidingElement = (
  name: string,
  attributes: Attributes,
  declared: ReadonlyMap<string, string>,
): boolean => !PAGES.has(name) && ('hidden' in attributes || isHiding(declared))

function setStyle(attributes: Attributes, style: string): void {
  if (style === '') delete attributes['style']
  else attributes['style'] = style
}

/**
 * Whether an element is hidden, with all that is in it, in one of the ways in which senders do that. Not what Outlook alone hides
 * (`mso-hide`): of such elements it has another form.
 */
function isHiding(declared: Declarations): boolean {
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
function isTiny(declared: Declarations): boolean | undefined {
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
