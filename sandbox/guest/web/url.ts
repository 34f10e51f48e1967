import 'core-js/modules/web.url.js'
import 'core-js/modules/web.url.to-json.js'
import 'core-js/modules/web.url-search-params.js'
import 'core-js/modules/web.url-search-params.delete.js'
import 'core-js/modules/web.url-search-params.has.js'
import 'core-js/modules/web.url-search-params.size.js'
import { defineInterface, defineOperation } from './interface.ts'
import { apply, getOwnPropertyDescriptor, testPattern } from './primordials.ts'
import { requireArguments, usvString } from './webidl.ts'

/** Left on the global by core-js, which finds none there; kept here so that a site may replace them for itself. */
const { URL: ParsedURL, URLSearchParams } = globalThis
const { construct } = Reflect
const { get: hrefOf, set: setHref } = getOwnPropertyDescriptor(ParsedURL.prototype, 'href') as {
  readonly get: () => string
  readonly set: (href: string) => void
}

/** The parser of core-js, whose refusals do not say what was refused. */
function parsed(text: string, base: string | undefined, target: Function = ParsedURL): URL {
  return refusing(text, base, () => construct(ParsedURL, [text, base], target) as URL)
}

function refusing<Result>(text: string, base: string | undefined, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TypeError(`Invalid URL: '${text}'${base === undefined ? '' : ` with base '${base}'`}`)
  }
}

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : usvString(value)

/** Not a class: its prototype is that of core-js, which knows its own by it. */
function URLConstructor(url: unknown, base?: unknown): URL {
  if (new.target === undefined)
    throw new TypeError("Class constructor URL cannot be invoked without 'new'")
  requireArguments(arguments.length, 1, "Failed to construct 'URL'")
  return parsed(usvString(url), textOf(base), new.target)
}

/** Null for what is no URL; what an argument itself throws as it becomes text is thrown. */
function parsedOrNull(url: unknown, base: unknown): URL | null {
  const [text, baseText] = [usvString(url), textOf(base)]
  try {
    return parsed(text, baseText)
  } catch {
    return null
  }
}

/** https://url.spec.whatwg.org/#dom-url-parse */
function parse(url: unknown, base?: unknown): URL | null {
  requireArguments(arguments.length, 1, "Failed to execute 'URL.parse'")
  return parsedOrNull(url, base)
}

/** https://url.spec.whatwg.org/#dom-url-canparse */
function canParse(url: unknown, base?: unknown): boolean {
  requireArguments(arguments.length, 1, "Failed to execute 'URL.canParse'")
  return parsedOrNull(url, base) !== null
}

const href = {
  get href(): string {
    return apply(hrefOf, this, []) as string
  },
  set href(value: unknown) {
    apply(hrefOf, this, [])
    const text = usvString(value)
    refusing(text, undefined, () => apply(setHref, this, [text]))
  },
}

URLConstructor.prototype = ParsedURL.prototype
Object.defineProperties(ParsedURL.prototype, {
  constructor: { value: URLConstructor, writable: true, configurable: true },
  href: getOwnPropertyDescriptor(href, 'href') as PropertyDescriptor,
})
for (const [name, operation] of Object.entries({ parse, canParse }))
  Object.defineProperty(URLConstructor, name, {
    value: defineOperation(name, 1, operation),
    writable: true,
    enumerable: true,
    configurable: true,
  })

const PlatformURL = URLConstructor as unknown as typeof globalThis.URL
export { PlatformURL as URL, URLSearchParams }

defineInterface('URL', PlatformURL, 1)
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
    : new PlatformURL(url).href
}
