/** Anything but blanks, controls and what has no width. */
const READABLE = /[^\p{C}\p{Z}\u034F\u115F\u1160\u3164\uFFA0]/u
const ENTITIES =
  /&(?:nbsp|ensp|emsp|thinsp|zwnj|zwj|shy|#160|#173|#847|#8199|#8203|#8204|#xa0|#x200[b-d]|#x34f);?/gi
/** Their content is not shown. */
const HIDDEN = /^(?:head|style|script|title|noscript|template)\b/i
const MAX_TAG = 10
const CONTROLS = /[[\p{Cc}\uFFFD]--[\t\n\f\r]]/gv
const SAMPLE = 4096
const MAX_NOTICE = 400
const NOTICE = /(?<![A-Za-z])MIME(?![A-Za-z])/

/** Whether it has control characters as no text has. */
export const isBinaryText = (text: string): boolean =>
  (text.slice(0, SAMPLE).match(CONTROLS)?.length ?? 0) * 20 > Math.min(text.length, SAMPLE)

export const isReadableText = (text: string): boolean => READABLE.test(text)

/**
 * Whether it is what mail programs write in a preamble, in any language: "This is a multi-part message in MIME format.",
 * "This is an OpenPGP/MIME encrypted message".
 */
export function isMimeNotice(text: string): boolean {
  const notice = text.trim()
  return notice.length <= MAX_NOTICE && NOTICE.test(notice)
}

/** Whether HTML shows text or an image; in time linear to its length. */
export function isReadableHtml(html: string): boolean {
  const unclosed = new Set<string>()
  let at = 0
  while (at < html.length) {
    const tag = html.indexOf('<', at)
    const text = html.slice(at, tag < 0 ? html.length : tag)
    if (READABLE.test(text.replaceAll(ENTITIES, ''))) return true
    if (tag < 0) return false
    const start = html.slice(tag + 1, tag + MAX_TAG)
    if (/^img\b/i.test(start)) return true
    const hidden = HIDDEN.exec(start)?.[0].toLowerCase()
    const end = start.startsWith('!--')
      ? html.indexOf('-->', tag)
      : html.indexOf('>', hidden === undefined ? tag : endOf(html, hidden, { tag, unclosed }))
    if (end < 0) return false
    at = end + 1
  }
  return false
}

/** Where the element ends; at its own tag when it does not, as none of that name does from there on. */
function endOf(
  html: string,
  name: string,
  { tag, unclosed }: { readonly tag: number; readonly unclosed: Set<string> },
): number {
  if (unclosed.has(name)) return tag
  const closing = new RegExp(`</${name}`, 'gi')
  closing.lastIndex = tag
  const found = closing.exec(html)
  if (!found) unclosed.add(name)
  return found?.index ?? tag
}
