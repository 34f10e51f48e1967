/** Sanitised HTML has no angle bracket and no quote in the values of attributes. */
const IMAGE = /<img\b[^<>]*>/gi
/** What is an image of the message's own there (RFC 2392). */
const OWN_SOURCE = /\ssrc="cid:([^"]*)"/i
/** Images that a browser shows and that cannot hold a script. */
const SHOWN_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i

export const isShownImage = (contentType: string): boolean => SHOWN_TYPE.test(contentType)

/** Replaces the references of sanitised HTML, each named by its Content-ID. */
export const replaceOwnImages = (html: string, replace: (contentId: string) => string): string =>
  html.replaceAll(IMAGE, (tag) =>
    tag.replace(OWN_SOURCE, (_, text: string) => ` ${replace(contentIdIn(text))}`),
  )

/** The Content-IDs that sanitised HTML refers to. */
export function contentIdsIn(html: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [tag] of html.matchAll(IMAGE)) {
    const [, text] = OWN_SOURCE.exec(tag) ?? []
    if (text !== undefined) found.add(contentIdIn(text))
  }
  return found
}

/** It is escaped for HTML, and as a URL. */
function contentIdIn(text: string): string {
  const unescaped = text.replaceAll('&amp;', '&')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}
