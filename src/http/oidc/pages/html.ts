import type { Language } from '#base/language.ts'
import { type Localized, LocalizedMessage, isLocalized } from '#languages/message.ts'

type Part = Html | Localized | string | number | undefined | false | readonly Part[]

/** Markup, as it is in all languages. Only `html` makes pieces of pages; every other text is escaped in them. */
class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A piece of a page, before it is known who reads it. */
export class Html {
  readonly #pieces: readonly (Markup | Part)[]

  private constructor(pieces: readonly (Markup | Part)[]) {
    this.#pieces = pieces
  }

  static trusted(text: string): Html {
    return new Html([new Markup(text)])
  }

  static of(strings: readonly string[], parts: readonly Part[]): Html {
    const pieces = strings.flatMap((markup, at) => [new Markup(markup), parts[at]])
    return new Html(pieces)
  }

  render(language: Language): string {
    return this.#pieces.map((piece) => markupOf(piece, language)).join('')
  }
}

/** A piece of a page. Values are escaped unless they are `Html`; undefined and false add nothing. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  Html.of(strings, parts)

/** For text and for attributes in double quotes. */
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.codePointAt(0)};`)

/** Pieces of pages in a message come out of it as they are; all else there is text. */
function markupOf(piece: unknown, language: Language): string {
  if (piece === undefined || piece === false) return ''
  if (piece instanceof Markup) return piece.text
  if (piece instanceof Html) return piece.render(language)
  if (Array.isArray(piece)) return piece.map((part) => markupOf(part, language)).join('')
  if (piece instanceof LocalizedMessage)
    return markupOf(piece.partsIn(language, emphasis), language)
  if (isLocalized(piece)) return escapeHtml(piece.in(language))
  if (typeof piece === 'string' || typeof piece === 'number') return escapeHtml(String(piece))
  throw new TypeError('only texts and numbers are allowed in a page')
}

const emphasis = (parts: readonly unknown[]): Html => html`<b>${parts as readonly Part[]}</b>`
