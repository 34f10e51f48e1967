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
const WITH_GROUND = new Set(['body', 'html', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'])
const GROUND_PROPERTIES = ['background', 'background-color', 'background-image'] as const
const INK_ATTRIBUTES = new Map([
  ['body', 'text'],
  ['font', 'color'],
])

const NONE: ReadonlyMap<string, string> = new Map()

/** The colors of an element, its own or those around it. */
export interface ElementColors {
  readonly ink: string
  /** Whether the sender named that color. */
  readonly isOwnInk: boolean
  readonly ground: string
  /** Whether the sender named what the words are on. */
  readonly isOwnGround: boolean
  /** Whether there was a picture, too, which is not shown. */
  readonly lostImage: boolean
}

/** What a message is on that brings colors of its own: they were chosen for white. */
export const PAPER: ElementColors = {
  ink: '#000000',
  isOwnInk: false,
  ground: '#ffffff',
  isOwnGround: false,
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
  const behind = { ...above, ...groundOf(background, above) }
  const ink = inkOf(opened, behind.ground)
  if (ink === undefined && isAsAround(opened, background)) return { colors: above, styles: NONE }
  const isPair = ink !== undefined && background.color !== undefined && !behind.lostImage
  const meant = ink === undefined ? impliedOf(opened, behind) : { ...behind, ink, isOwnInk: true }
  const colors = isPair ? meant : readable(meant)
  const isSaid = ink !== undefined || isLink(opened) || colors.ink !== above.ink
  return { colors, styles: stylesOf(background.color, isSaid ? colors.ink : undefined) }
}

const stylesOf = (ground: string | undefined, ink: string | undefined): Map<string, string> =>
  new Map([
    ...(ground === undefined ? [] : [['background-color', ground] as const]),
    ...(ink === undefined ? [] : [['color', ink] as const]),
  ])

/** Whether nothing but its text would have a color: then a pair of colors around it is its own. */
const isAsAround = (opened: OpenedElement, { color, hasImage }: Background): boolean =>
  color === undefined && !hasImage && !isLink(opened)

/** The last of what says so in a style, or else an attribute; a picture counts wherever it is. */
function backgroundOf({ name, attributes, declared, above }: OpenedElement): Background {
  const said = GROUND_PROPERTIES.flatMap((property) => {
    const value = declared.get(property)
    return value === undefined ? [] : [backgroundOn(above.ground, value)]
  })
  const attribute = WITH_GROUND.has(name) ? (attributes['bgcolor'] ?? '') : ''
  const color = said.flatMap((one) => one.color ?? []).at(-1)
  const hasPicture = 'background' in attributes
  return {
    color: color ?? attributeColor(above.ground, attribute),
    hasImage: hasPicture || said.some(({ hasImage }) => hasImage),
  }
}

const groundOf = (
  { color, hasImage }: Background,
  { lostImage }: ElementColors,
): Partial<ElementColors> =>
  color === undefined
    ? { lostImage: lostImage || hasImage }
    : { ground: color, isOwnGround: true, lostImage: hasImage }

function inkOf(
  { name, attributes, declared, above }: OpenedElement,
  ground: string,
): string | undefined {
  const value = declared.get('color')?.toLowerCase() ?? ''
  if (value === 'inherit' || value === 'currentcolor') return above.ink
  const attribute = attributes[INK_ATTRIBUTES.get(name) ?? ''] ?? ''
  return colorOn(ground, value) ?? attributeColor(ground, attribute)
}

/** A link without a color has its blue where that can be read, and else the color around it. */
const impliedOf = (opened: OpenedElement, colors: ElementColors): ElementColors =>
  isLink(opened) && contrast(LINK, colors.ground) >= READABLE
    ? { ...colors, ink: LINK, isOwnInk: false }
    : colors

const isLink = ({ name, attributes }: OpenedElement): boolean =>
  name === 'a' && 'href' in attributes

function readable(colors: ElementColors): ElementColors {
  const { ink, ground, isOwnInk, isOwnGround, lostImage } = colors
  const least = isOwnInk && isOwnGround && !lostImage ? VISIBLE : READABLE
  if (contrast(ink, ground) >= least) return colors
  const shade = isOwnInk ? readableOn(ground, ink) : farthestFrom(ground)
  return { ...colors, ink: shade, isOwnInk: false }
}
