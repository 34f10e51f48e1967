/** The parser's time grows with the square of the elements that are open. */
const MAX_OPEN = 1000
const TAG = /<(\/?)([a-z][a-z0-9:-]{0,40})[^<>]*>/gi
const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
])

/** HTML without the tags that would open still more elements than anybody nests. What is dropped is never shown as text. */
export function withoutDepth(html: string): string {
  let open = 0
  return html.replaceAll(TAG, (tag: string, slash: string, name: string) => {
    if (VOID.has(name.toLowerCase())) return tag
    if (slash !== '') {
      open = Math.max(0, open - 1)
      return tag
    }
    if (open >= MAX_OPEN) return ''
    open += 1
    return tag
  })
}
