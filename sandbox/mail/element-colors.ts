import {
  attributeColor,
  type Background,
  backgroundOn,
  colorOn,
  contrast,
  farthestFrom,
  READABLE,
  readableOn,
} from './html-colors.ts'

/** What browsers give a link that has no color of its own. */
const LINK = '#0000ee'
/** Below it words cannot be seen, whatever was meant: a style sheet, which is not kept, may have had another background. */
const VISIBLE = 2
const WITH_BGCOLOR = new Set(['body', 'html', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'])
const BACKGROUND_PROPERTIES = ['background', 'background-color', 'background-image'] as const
const TEXT_COLOR_ATTRIBUTES = new Map([
  ['body', 'text'],
  ['font', 'color'],
])

const NONE: ReadonlyMap<string, string> = new Map()

/** The colors of an element, its own or those around it. */
export interface ElementColors {
  readonly textColor: string
  /** Whether the sender named that color. */
  readonly isOwnTextColor: boolean
  readonly background: string
  /** Whether the sender named what the words are on. */
  readonly isOwnBackground: boolean
  /** Whether there was a picture, too, which is not shown. */
  readonly lostImage: boolean
}

/** What a message is on that brings colors of its own: they were chosen for white. */
export const WHITE_PAGE: ElementColors = {
  textColor: '#000000',
  isOwnTextColor: false,
  background: '#ffffff',
  isOwnBackground: false,
  lostImage: false,
}

export interface OpenedElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly declared: ReadonlyMap<string, string>
  readonly above: ElementColors
}

export interface ShownColors {
  readonly colors: ElementColors
  /** What its style has to say, so that it is shown so. */
  readonly styles: ReadonlyMap<string, string>
}

/** The colors that an element is shown with. Text can be read, or is of the pair of colors that the element itself names. */
export function colorsOf(opened: OpenedElement): ShownColors {
  const { above } = opened
  const background = backgroundOf(opened)
  const behind = { ...above, ...behindOf(background, above) }
  const textColor = textColorOf(opened, behind.background)
  if (textColor === undefined && isAsAround(opened, background))
    return { colors: above, styles: NONE }
  const isPair = textColor !== undefined && background.color !== undefined && !behind.lostImage
  const meant =
    textColor === undefined
      ? impliedOf(opened, behind)
      : { ...behind, textColor, isOwnTextColor: true }
  const colors = isPair ? meant : readable(meant)
  const isSaid = textColor !== undefined || isLink(opened) || colors.textColor !== above.textColor
  return { colors, styles: stylesOf(background.color, isSaid ? colors.textColor : undefined) }
}

const stylesOf = (
  background: string | undefined,
  textColor: string | undefined,
): Map<string, string> =>
  new Map([
    ...(background === undefined ? [] : [['background-color', background] as const]),
    ...(textColor === undefined ? [] : [['color', textColor] as const]),
  ])

/** Whether nothing but its text would have a color: then a pair of colors around it is its own. */
const isAsAround = (opened: OpenedElement, { color, hasImage }: Background): boolean =>
  color === undefined && !hasImage && !isLink(opened)

/** The last of what says so in a style, or else an attribute; a picture counts wherever it is. */
function backgroundOf({ name, attributes, declared, above }: OpenedElement): Background {
  const said = BACKGROUND_PROPERTIES.flatMap((property) => {
    const value = declared.get(property)
    return value === undefined ? [] : [backgroundOn(above.background, value)]
  })
  const attribute = WITH_BGCOLOR.has(name) ? (attributes['bgcolor'] ?? '') : ''
  const color = said.flatMap((one) => one.color ?? []).at(-1)
  const hasPicture = 'background' in attributes
  return {
    color: color ?? attributeColor(above.background, attribute),
    hasImage: hasPicture || said.some(({ hasImage }) => hasImage),
  }
}

const behindOf = (
  { color, hasImage }: Background,
  { lostImage }: ElementColors,
): Partial<ElementColors> =>
  color === undefined
    ? { lostImage: lostImage || hasImage }
    : { background: color, isOwnBackground: true, lostImage: hasImage }

function textColorOf(
  { name, attributes, declared, above }: OpenedElement,
  background: string,
): string | undefined {
  const value = declared.get('color')?.toLowerCase() ?? ''
  if (value === 'inherit' || value === 'currentcolor') return above.textColor
  const attribute = attributes[TEXT_COLOR_ATTRIBUTES.get(name) ?? ''] ?? ''
  return colorOn(background, value) ?? attributeColor(background, attribute)
}

/** A link without a color has its blue where that can be read, and else the color around it. */
const impliedOf = (opened: OpenedElement, colors: ElementColors): ElementColors =>
  isLink(opened) && contrast(LINK, colors.background) >= READABLE
    ? { ...colors, textColor: LINK, isOwnTextColor: false }
    : colors

const isLink = ({ name, attributes }: OpenedElement): boolean =>
  name === 'a' && 'href' in attributes

function readable(colors: ElementColors): ElementColors {
  const { textColor, background, isOwnTextColor, isOwnBackground, lostImage } = colors
  const least = isOwnTextColor && isOwnBackground && !lostImage ? VISIBLE : READABLE
  if (contrast(textColor, background) >= least) return colors
  const shade = isOwnTextColor ? readableOn(background, textColor) : farthestFrom(background)
  return { ...colors, textColor: shade, isOwnTextColor: false }
}
