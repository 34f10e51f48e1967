import { Buffer } from 'node:buffer'

import { convert, type FormatCallback } from 'html-to-text'

import { sanitizedHtml } from './sanitized-html.ts'

const MAX_TEXT_BYTES = 512 * 1024
const MAX_HTML_BYTES = 1024 * 1024
const MAX_SNIPPET = 200
/** What of the text a snippet is looked for in. */
const SNIPPET_SOURCE = 4000

export interface MailBody {
  readonly text: Buffer
  readonly html: Buffer | null
  readonly isTextCut: boolean
  readonly isHtmlCut: boolean
  readonly snippet: string
}

/** What is shown of a message; text that is missing is made of the HTML. */
export function bodyOf(text: string | undefined, html: string | undefined): MailBody {
  const shownHtml = html === undefined ? undefined : boundedHtml(html)
  const plain = text ?? (shownHtml === undefined ? '' : textOfHtml(shownHtml.html))
  const shown = cutTo(storable(plain), MAX_TEXT_BYTES)
  return {
    text: shown.bytes,
    html: shownHtml === undefined ? null : Buffer.from(shownHtml.html),
    isTextCut: shown.isCut,
    isHtmlCut: shownHtml?.isCut ?? false,
    snippet: snippetOf(plain),
  }
}

/** Sanitising can lengthen HTML: then less of it is taken. */
function boundedHtml(html: string): { readonly html: string; readonly isCut: boolean } {
  for (let length = MAX_HTML_BYTES; length > 1; length = Math.floor(length / 2)) {
    const sanitized = storable(sanitizedHtml(storable(html.slice(0, length))))
    if (Buffer.byteLength(sanitized) <= MAX_HTML_BYTES) {
      return { html: sanitized, isCut: html.length > length }
    }
  }
  return { html: '', isCut: true }
}

/** Elements that begin a line and end it, besides those that the library knows. */
const LINES = 'address caption center dd dl dt figcaption figure legend li summary tr'

const LINE = { leadingLineBreaks: 1, trailingLineBreaks: 1 }

/** Text of HTML that was sanitised: cells are apart, rows and other blocks are lines. */
export const textOfHtml = (html: string): string =>
  convert(html, {
    wordwrap: false,
    formatters: { apart },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...LINES.split(' ').map((selector) => ({ selector, format: 'block', options: LINE })),
      { selector: 'td', format: 'apart' },
      { selector: 'th', format: 'apart' },
    ],
    limits: { maxInputLength: MAX_HTML_BYTES, maxDepth: 200 },
  }).trimEnd()

/** Blanks one behind the other, and those at the beginning and end of a line, are one or none. */
function apart(...[element, walk, builder]: Parameters<FormatCallback>): void {
  builder.addInline(' ')
  walk(element.children, builder)
  builder.addInline(' ')
}

/** PostgreSQL keeps neither NUL nor half a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

/** Cut between characters. */
function cutTo(
  text: string,
  maxBytes: number,
): { readonly bytes: Buffer; readonly isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { bytes, isCut: false }
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return { bytes: bytes.subarray(0, end), isCut: true }
}

/** Lines that quote an earlier message say nothing of this one. */
function snippetOf(text: string): string {
  const lines = text.slice(0, SNIPPET_SOURCE).split('\n')
  const own = lines.filter((line) => !line.startsWith('>')).join(' ')
  const words = own.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return storable(words.slice(0, MAX_SNIPPET)).replace(/\uFFFD$/, '')
}
