import 'core-js/modules/web.url.js'
import 'core-js/modules/web.url.can-parse.js'
import 'core-js/modules/web.url.parse.js'
import 'core-js/modules/web.url.to-json.js'
import 'core-js/modules/web.url-search-params.js'
import 'core-js/modules/web.url-search-params.delete.js'
import 'core-js/modules/web.url-search-params.has.js'
import 'core-js/modules/web.url-search-params.size.js'
import { defineInterface } from './interface.ts'
import { testPattern } from './primordials.ts'

/** Left on the global by core-js, which finds none there; kept here so that a site may replace them for itself. */
export const { URL, URLSearchParams } = globalThis

defineInterface('URL', URL, 1)
defineInterface('URLSearchParams', URLSearchParams)
Reflect.deleteProperty(globalThis, '__core-js_shared__')

/**
 * A subset of http and https URLs that the URL parser gives back unchanged: lower-case host without punycode whose last
 * label starts with a letter, no port, no escape, no segment that starts with a dot.
 */
const CANONICAL =
  /^https?:\/\/(?!(?:[a-z0-9-]+\.)*xn--)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\/[\w~!$&'()*+,;=:@-][\w~!$&'()*+,;=:@.-]*)*\/?(?:\?[\w~!$&()*+,;=:@./?-]*)?$/
const HAS_PATH = /^https?:\/\/[^/?]*\//
const MAX_FAST = 2048

/** The serialised URL; skips the parser, which is slow, where it would change nothing. Throws a TypeError. */
export function normalizeUrl(url: string): string {
  return url.length <= MAX_FAST && testPattern(CANONICAL, url) && testPattern(HAS_PATH, url)
    ? url
    : new URL(url).href
}
