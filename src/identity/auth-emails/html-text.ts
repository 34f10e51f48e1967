/** Elements whose content is not shown. */
const HIDDEN_ELEMENTS = ['script', 'style', 'head', 'title', 'template', 'svg']
const BREAKS: ReadonlyMap<string, string> = new Map([
  ['br', '\n'],
  ['tr', '\n'],
  ['li', '\n- '],
  ['hr', '\n\n'],
])
const BLOCK =
  /^(?:p|div|h[1-6]|table|ul|ol|section|article|header|footer|main|blockquote|pre|center)$/
const TAG = /^(\/?)([a-z][a-z0-9]*)/i
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['copy', '©'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
])

/** What a reader sees of HTML, as plain text with its links written out. Any text at all is fine; one pass over it. */
export function htmlToText(html: string): string {
  const reader = new HtmlTextReader()
  // Only ASCII letters are lowered, so that both texts are equally long.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    reader.text(html.slice(at, open < 0 ? html.length : open))
    if (open < 0) break
    at = readMarkup({ html, lower }, open, reader)
  }
  return reader.finish()
}

/** Reads one tag, comment or lone `<`, and gives the place after it. */
function readMarkup(
  { html, lower }: { readonly html: string; readonly lower: string },
  open: number,
  reader: HtmlTextReader,
): number {
  if (html.startsWith('<!--', open)) return endOf(html, '-->', open)
  if (!/[a-z/!?]/i.test(html.charAt(open + 1))) {
    reader.text('<')
    return open + 1
  }
  const end = endOf(html, '>', open)
  const tag = html.slice(open + 1, end - 1)
  const [, slash = '', written = ''] = TAG.exec(tag) ?? []
  const name = written.toLowerCase()
  if (slash === '' && HIDDEN_ELEMENTS.includes(name)) {
    return endOf(html, '>', endOf(lower, `</${name}`, end))
  }
  reader.tag(name, slash !== '', tag)
  return end
}

/** After the next of these words; what is never ended hides the rest. */
function endOf(html: string, words: string, from: number): number {
  const found = html.indexOf(words, from)
  return found < 0 ? html.length : found + words.length
}

class HtmlTextReader {
  #out = ''
  #link: { readonly href: string; readonly from: number } | undefined

  text(html: string): void {
    this.#out += decodeEntities(html.replaceAll(/\s+/g, ' '))
  }

  tag(name: string, closing: boolean, tag: string): void {
    if (name === 'a') this.#anchor(closing, tag)
    else if (BLOCK.test(name)) this.#out += '\n\n'
    else if (!closing) this.#out += BREAKS.get(name) ?? ''
    else if (name === 'td' || name === 'th') this.#out += ' '
  }

  finish(): string {
    const lines = this.#out.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim())
    return lines
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim()
  }

  #anchor(closing: boolean, tag: string): void {
    if (!closing) {
      const [, ...ways] = HREF.exec(tag) ?? []
      const href = decodeEntities(ways.find((way) => way !== undefined) ?? '').trim()
      this.#link = /^(?:https?|mailto):/i.test(href) ? { href, from: this.#out.length } : undefined
      return
    }
    const { href, from } = this.#link ?? { href: '', from: 0 }
    const label = this.#out.slice(from).trim()
    if (href !== '' && label !== href) this.#out += label === '' ? href : ` (${href})`
    this.#link = undefined
  }
}

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(#x?[0-9a-f]{1,6}|[a-z]{2,8});/gi, (whole, name: string) =>
    name.startsWith('#') ? characterOf(name.slice(1)) : (ENTITIES.get(name.toLowerCase()) ?? whole),
  )

/** Control characters and halves of pairs become spaces. */
function characterOf(number: string): string {
  const code = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number)
  const valid = code > 0x1f && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return valid && !(code >= 0x7f && code <= 0xa0) ? String.fromCodePoint(code) : ' '
}
