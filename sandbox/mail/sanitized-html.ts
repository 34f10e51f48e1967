import sanitizeHtml from 'sanitize-html'

import { withoutDepth } from './html-depth.ts'

/** Deeper elements are dropped and their text stays: browsers themselves stop at 512. */
const MAX_DEPTH = 100
const MAX_URL = 4000
const COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]{1,30}|rgba?\([\d\s.,%/]{1,40}\))$/i
const LENGTH = /^(?:\d{1,4}(?:\.\d{1,3})?(?:px|pt|em|rem|%)?|auto)$/i
const LENGTHS = /^(?:(?:\d{1,4}(?:\.\d{1,3})?(?:px|pt|em|rem|%)?|auto)\s{0,5}){1,4}$/i
const WORD = /^[a-z-]{1,30}$/i
const WEIGHT = /^(?:[a-z]{1,10}|\d{3})$/i
const BORDER =
  /^(?:(?:\d{1,3}(?:\.\d{1,3})?(?:px|pt|em)?|[a-z]{1,30}|#[0-9a-f]{3,8})\s{0,5}){1,3}$/i
const CONTENT_ID = /^cid:[^\s"'<>]{1,998}$/i
const LINKED = new Set(['http:', 'https:', 'mailto:'])
const REMOTE = new Set(['http:', 'https:'])

const words = (text: string): string[] => text.split(' ')

const TAGS = words(
  'a abbr address b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl dt em figcaption ' +
    'figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strike strong sub sup table ' +
    'tbody td tfoot th thead tr tt u ul var wbr',
)
/** Their content is dropped with them. */
const WITHOUT_TEXT = words(
  'script style textarea option noscript noembed noframes title template iframe object embed applet svg math xmp ' +
    'plaintext select audio video canvas',
)

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: TAGS,
  nonTextTags: WITHOUT_TEXT,
  disallowedTagsMode: 'discard',
  nestingLimit: MAX_DEPTH,
  allowedAttributes: {
    '*': words('align bgcolor dir height lang style title valign width'),
    a: words('href rel target'),
    col: ['span'],
    colgroup: ['span'],
    font: words('color face size'),
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
  // No property takes a URL, and none takes an element out of the flow or over its neighbours.
  allowedStyles: {
    '*': {
      ...each('background-color border-color color', COLOR),
      ...each('border border-bottom border-left border-right border-top', BORDER),
      ...each('font-size height line-height max-width width', LENGTH),
      ...each('padding-bottom padding-left padding-right padding-top', LENGTH),
      ...each('border-spacing padding', LENGTHS),
      ...each('border-collapse direction font-style list-style-type text-align', WORD),
      ...each('text-decoration vertical-align white-space', WORD),
      'font-weight': [WEIGHT],
    },
  },
  transformTags: { a: linkOf, img: imageOf },
}

/**
 * What of a message's HTML may be shown in a page: nothing runs, nothing is fetched, nothing leaves its place. Images keep
 * `cid:`; a remote one keeps its address in `data-remote-src`, for whoever asks to see it.
 */
export const sanitizedHtml = (html: string): string => sanitizeHtml(withoutDepth(html), OPTIONS)

/** Opens elsewhere, without a way back to the page that shows the message. */
function linkOf(tagName: string, { href, title }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const target = urlOf(href, LINKED)
  return {
    tagName,
    attribs: {
      ...(target === undefined
        ? {}
        : { href: target, target: '_blank', rel: 'noopener noreferrer nofollow' }),
      ...(title === undefined ? {} : { title }),
    },
  }
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

/** As a browser would resolve it; undefined for what leads nowhere without a page around it. */
function urlOf(text: string | undefined, protocols: ReadonlySet<string>): string | undefined {
  if (text === undefined || text.length > MAX_URL || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocols.has(protocol) ? href : undefined
}

function each(properties: string, pattern: RegExp): Record<string, RegExp[]> {
  return Object.fromEntries(words(properties).map((property) => [property, [pattern]]))
}
