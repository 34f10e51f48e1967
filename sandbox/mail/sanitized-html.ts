import sanitizeHtml from 'sanitize-html'

import { isColored, ShownStyles } from './shown-styles.ts'

/** Deeper elements are dropped and their text stays: browsers themselves stop at 512. */
const MAX_DEPTH = 100
const MAX_URL = 4000
const CONTENT_ID = /^cid:[^\s"'<>]{1,998}$/i
const LINKED = new Set(['http:', 'https:', 'mailto:'])
const REMOTE = new Set(['http:', 'https:'])

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

const words = (text: string): string[] => text.split(' ')

const TAGS = words(
  'a abbr address b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl dt em figcaption ' +
    'figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd legend li mark ol p pre q s samp small span strike strong sub ' +
    'summary sup table tbody td tfoot th thead tr tt u ul var wbr',
)

/** Blocks that are no more than that here: what may be closed in one is open, and no landmark of the page around it. */
const BLOCKS = words('article aside details fieldset footer form header main nav section')

/** As text, which a link can have in it. */
const CONTROLS = words('button label')
const KEPT = new Set([...TAGS, ...BLOCKS, ...CONTROLS])

/** Beside words or another element, which would be one word with what is in it. */
const TOUCHING_CONTROL =
  /(?<=[\p{L}\p{N}>])(?=<(?:button|label)\b)|(?<=<\/(?:button|label)>)(?=[\p{L}\p{N}<])/giu
const PAGES = new Set(['body', 'html'])

/** Their content is dropped with them. */
const WITHOUT_TEXT = words(
  'script style textarea option noscript noembed noframes title template iframe object embed applet svg math xmp ' +
    'plaintext select audio video canvas',
)

const OPTIONS = {
  allowedTags: TAGS,
  nonTextTags: WITHOUT_TEXT,
  disallowedTagsMode: 'discard',
  nestingLimit: MAX_DEPTH,
  allowedAttributes: {
    '*': words('align dir height lang style title valign width'),
    a: words('href rel target'),
    col: ['span'],
    colgroup: ['span'],
    font: words('face size'),
    img: words('alt data-remote-src src'),
    li: ['value'],
    ol: words('reversed start type'),
    table: words('border cellpadding cellspacing'),
    td: words('colspan nowrap rowspan'),
    th: words('colspan nowrap rowspan scope'),
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['cid'] },
  allowedSchemesAppliedToAttributes: ['href', 'src'],
  allowProtocolRelative: false,
  // They are made of checked parts: see `style-declarations.ts`.
  parseStyleAttributes: false,
  transformTags: {
    a: linkOf,
    body: pageOf,
    html: pageOf,
    img: imageOf,
    ...transformEach(BLOCKS, 'div'),
    ...transformEach(CONTROLS, 'span'),
  },
} satisfies sanitizeHtml.IOptions

/** What a message with colors of its own is on, in a page of whatever color. */
const WHITE_PAGE = '<div style="background-color:#ffffff;color:#000000">'
const WHITE_PAGE_END = '</div>'

/**
 * What of a message's HTML may be shown in a page: nothing runs, nothing is fetched, nothing leaves its place. Images keep
 * `cid:`; a remote one keeps its address in `data-remote-src`, for readers who ask to see it. Words can be read on what they are
 * on, in a page of any color; what the sender hid has no words.
 */
export function sanitizedHtml(html: string): string {
  const isOnWhitePage = html.startsWith(WHITE_PAGE) && html.endsWith(WHITE_PAGE_END)
  const content = isOnWhitePage ? html.slice(WHITE_PAGE.length, -WHITE_PAGE_END.length) : html
  const hasColors = isOnWhitePage || isColored(content)
  const styles = new ShownStyles({ hasColors, isKept })
  const sanitized = sanitizeHtml(withoutDepth(content.replaceAll(TOUCHING_CONTROL, ' ')), {
    ...OPTIONS,
    onOpenTag: (name, attributes) => styles.enter(name, attributes),
    onCloseTag: () => styles.leave(),
    textFilter: (text) => (styles.hidesWords ? '' : text),
  })
  return hasColors ? WHITE_PAGE + sanitized + WHITE_PAGE_END : sanitized
}

/** With their own colors, pages are elements. */
const isKept = (name: string, depth: number): boolean =>
  depth < MAX_DEPTH && (KEPT.has(name) || PAGES.has(name))

function transformEach(names: readonly string[], tagName: string) {
  const transform = (_: string, attribs: sanitizeHtml.Attributes) => ({ tagName, attribs })
  return Object.fromEntries(names.map((name) => [name, transform]))
}

/** Opens elsewhere, without a way back to the page that shows the message. */
function linkOf(
  tagName: string,
  { href, title, style }: sanitizeHtml.Attributes,
): sanitizeHtml.Tag {
  const target = urlOf(href, LINKED)
  return {
    tagName,
    attribs: {
      ...(target === undefined
        ? {}
        : { href: target, target: '_blank', rel: 'noopener noreferrer nofollow' }),
      ...(title === undefined ? {} : { title }),
      ...(style === undefined ? {} : { style }),
    },
  }
}

/** A page is a part of another here: with colors of its own it stays an element. */
function pageOf(tagName: string, attribs: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  return { tagName: attribs['style'] === undefined ? tagName : 'div', attribs }
}

function imageOf(tagName: string, attributes: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const { src, 'data-remote-src': _, ...attribs } = attributes
  if (src !== undefined && CONTENT_ID.test(src)) return { tagName, attribs: { ...attribs, src } }
  const remote = urlOf(src, REMOTE)
  return {
    tagName,
    attribs: remote === undefined ? attribs : { ...attribs, 'data-remote-src': remote },
  }
}

/** The URL as a browser resolves it; undefined for one that has no target without a page around it. */
function urlOf(text: string | undefined, protocols: ReadonlySet<string>): string | undefined {
  if (text === undefined || text.length > MAX_URL || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocols.has(protocol) ? href : undefined
}

/** HTML without the tags that would nest elements deeper than any real message does. What is dropped is never shown as text. */
function withoutDepth(html: string): string {
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
