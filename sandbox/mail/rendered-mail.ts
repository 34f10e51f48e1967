import { textOfHtml } from './body.ts'
import { sanitizedHtml } from './sanitized-html.ts'
import { hasHtml, type Shown } from './shown-parts.ts'

/** Of HTML among other texts, so much is shown as text. */
const MAX_HTML = 1024 * 1024
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** The parts of a message as one text; undefined for one that is HTML alone. */
export const renderedText = (shown: Shown): string | undefined =>
  hasPlain(shown) ? textOf(shown) : undefined

/** The parts of a message as one page; undefined for one that has no HTML. */
export const renderedHtml = (shown: Shown): string | undefined =>
  hasHtml(shown) ? htmlOf(shown) : undefined

function hasPlain(shown: Shown): boolean {
  if (shown.kind === 'all') return seen(shown.items).some(hasPlain)
  return shown.kind !== 'html'
}

function textOf(shown: Shown): string {
  if (shown.kind === 'all') return seen(shown.items).map(textOf).join('\n')
  if (shown.kind === 'either') return textOf(shown.plain)
  return shown.kind === 'plain'
    ? shown.text
    : `${textOfHtml(sanitizedHtml(shown.text.slice(0, MAX_HTML)))}\n`
}

function htmlOf(shown: Shown): string {
  if (shown.kind === 'all') return seen(shown.items).map(htmlOf).join('\n')
  if (shown.kind === 'either') return htmlOf(shown.html)
  if (shown.kind === 'html') return shown.text
  const escaped = shown.text.replaceAll(/[&<>]/g, (letter) => ESCAPES[letter] ?? letter)
  return `<div style="white-space:pre-wrap">${escaped}</div>`
}

const seen = (items: readonly Shown[]): readonly Shown[] =>
  items.some(({ isReadable }) => isReadable) ? items.filter(({ isReadable }) => isReadable) : items
