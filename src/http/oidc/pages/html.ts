/** Text that is HTML already. Only `html` makes it; every other text is escaped in a page. */
export class Html {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  static trusted(text: string): Html {
    return new Html(text)
  }

  toString(): string {
    return this.#text
  }
}

type Part = Html | string | number | undefined | false | readonly Html[]

/** A piece of a page. Values are escaped unless they are `Html`; undefined and false add nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = parts.map((part, at) => `${textOf(part)}${strings[at + 1] ?? ''}`)
  return Html.trusted(`${strings[0] ?? ''}${pieces.join('')}`)
}

/** For text and for attributes in double quotes. */
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.codePointAt(0)};`)

function textOf(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.toString()
  if (typeof part === 'object') return part.map(String).join('')
  return escapeHtml(String(part))
}
