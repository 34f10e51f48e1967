export interface LinkedPart {
  readonly text: string
  /** Only `http:`, `https:` and `mailto:`. */
  readonly href: string | undefined
}

/** Bounded, so that no text takes long. */
const LINK =
  /\bhttps?:\/\/[^\s<>"“”«»]{1,2000}|\bmailto:[^\s<>"@]{1,64}@[^\s<>"]{1,500}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}/gi
/** Belongs to the sentence, not to the address. */
const TRAILING = /[.,;:!?'’»”]+$/

/** The text of a message in pieces: web and mail addresses are links, all else is text. */
export function linkedParts(text: string): readonly LinkedPart[] {
  const parts: LinkedPart[] = []
  let at = 0
  for (const match of text.matchAll(LINK)) {
    const shown = trimmed(match[0])
    const href = hrefOf(shown)
    if (href === undefined) continue
    if (match.index > at) parts.push({ text: text.slice(at, match.index), href: undefined })
    parts.push({ text: shown, href })
    at = match.index + shown.length
  }
  if (at < text.length) parts.push({ text: text.slice(at), href: undefined })
  return parts
}

/** Without the end of the sentence, and without a closing bracket that the address does not open. */
function trimmed(found: string): string {
  const text = found.replace(TRAILING, '')
  const isOpen = text.split('(').length >= text.split(')').length
  return text.endsWith(')') && !isOpen ? trimmed(text.slice(0, -1)) : text
}

function hrefOf(text: string): string | undefined {
  const href = /^(?:https?|mailto):/i.test(text) ? text : `mailto:${text}`
  return URL.canParse(href) ? href : undefined
}
