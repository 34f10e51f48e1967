const COLOR = /^#[0-9a-f]{6}$/
const BORDER_COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]{1,30}|rgba?\([\d\s.,%/]{1,40}\))$/i
const LENGTH = /^(?:\d{1,4}(?:\.\d{1,3})?(?:px|pt|em|rem|%)?|auto)$/i
const LENGTHS = /^(?:(?:\d{1,4}(?:\.\d{1,3})?(?:px|pt|em|rem|%)?|auto)\s{0,5}){1,4}$/i
const WORD = /^[a-z-]{1,30}$/i
const WEIGHT = /^(?:[a-z]{1,10}|\d{3})$/i
const BORDER =
  /^(?:(?:\d{1,3}(?:\.\d{1,3})?(?:px|pt|em)?|[a-z]{1,30}|#[0-9a-f]{3,8})\s{0,5}){1,3}$/i
/** No property takes a URL, and none takes an element out of the flow or over its neighbours. */
const ALLOWED = new Map<string, RegExp>([
  ...each('background-color color', COLOR),
  ['border-color', BORDER_COLOR],
  ...each('border border-bottom border-left border-right border-top', BORDER),
  ...each('font-size height line-height max-width width', LENGTH),
  ...each('padding-bottom padding-left padding-right padding-top', LENGTH),
  ...each('border-spacing padding', LENGTHS),
  ...each('border-collapse direction font-style list-style-type text-align', WORD),
  ...each('text-decoration vertical-align white-space', WORD),
  ['font-weight', WEIGHT],
])
const PROPERTY = /^[a-z-]{1,40}$/
/** Longer ones are left out. */
const MAX_DECLARATION = 2000

/** The declarations of a `style` attribute, by property in lower case: of several with one property the one that a browser takes. */
export function declarationsOf(style: string): Map<string, string> {
  const found = new Map<string, string>()
  const important = new Set<string>()
  for (const declaration of splitOutside(style.replaceAll(/\/\*.*?(?:\*\/|$)/gs, ' '), ';')) {
    if (declaration.length > MAX_DECLARATION) continue
    const colon = declaration.indexOf(':')
    const property = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    if (!PROPERTY.test(property)) continue
    const [, value = '', mark] =
      /^(.*?)(!\s*important)?$/is.exec(declaration.slice(colon + 1).trim()) ?? []
    if (mark === undefined && important.has(property)) continue
    if (mark !== undefined) important.add(property)
    found.set(property, value.trim())
  }
  return found
}

/** A `style` of those that may be shown. */
export const styleOf = (declarations: ReadonlyMap<string, string>): string =>
  [...declarations]
    .filter(([property, value]) => ALLOWED.get(property)?.test(value) === true)
    .map(([property, value]) => `${property}:${value}`)
    .join(';')

/** Splits at the sign outside of brackets and quotes. */
export function splitOutside(text: string, sign: string): string[] {
  const pieces: string[] = []
  let from = 0
  let depth = 0
  let quote = ''
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") {
      quote = letter
    } else if (letter === '(') {
      depth += 1
    } else if (letter === ')') {
      depth = Math.max(0, depth - 1)
    } else if (letter === sign && depth === 0) {
      pieces.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...pieces, text.slice(from)]
}

function each(properties: string, pattern: RegExp): [string, RegExp][] {
  return properties.split(' ').map((property) => [property, pattern])
}
