import { isJsonType } from './bodies/content-types.ts'
import { fetchContextOf } from './fetch-context.ts'

/** No browser sends a longer header. */
const MAX_HEADER = 1000
const HTML = 'text/html'
const JSON_TYPE = 'application/json'
const ANY = '*/*'
/** What names JSON, the closest range first (RFC 9110 §12.5.1). */
const JSON_RANGES = [JSON_TYPE, 'application/*', ANY]
/** Browsers send Basic credentials of their own accord, and nothing else. */
const TOKEN = /^(?!basic\s)./i
const QUALITY = /^q\s*=\s*([01](?:\.\d{0,3})?)$/

/** Whether the caller reads pages, as browsers do: `Accept` names `text/html` itself, without `q=0` (RFC 9110 §12.5.1). */
export const acceptsHtml = (request: Request): boolean =>
  rangesOf(request).some(({ type, quality }) => type === HTML && quality > 0)

/** Whether a page may be the response: the caller reads pages, or takes any type and does not name JSON, as curl does. */
export const takesHtml = (request: Request): boolean => {
  if (!request.headers.get('accept') || acceptsHtml(request)) return true
  const ranges = rangesOf(request).filter(({ quality }) => quality > 0)
  return ranges.some(({ type }) => type === ANY) && ranges.every(({ type }) => type !== JSON_TYPE)
}

/**
 * Whether the caller is a browser that goes to a page: it prefers HTML to JSON, and neither a script nor a program with a token
 * or a JSON body asks. Some HTTP clients name `text/html` by default.
 */
export const asksForPage = (request: Request): boolean =>
  prefersHtml(request) &&
  fetchContextOf(request) !== 'script' &&
  !TOKEN.test(request.headers.get('authorization') ?? '') &&
  !isJsonType(request.headers.get('content-type'))

/** At equal preference, the first in the header wins. */
function prefersHtml(request: Request): boolean {
  const ranges = rangesOf(request)
  const html = ranges.findIndex(({ type, quality }) => type === HTML && quality > 0)
  if (html === -1) return false
  const json = JSON_RANGES.map((range) => ranges.findIndex(({ type }) => type === range)).find(
    (at) => at !== -1,
  )
  if (json === undefined) return true
  const [htmlQuality = 0, jsonQuality = 0] = [html, json].map((at) => ranges[at]?.quality)
  const isNamed = ranges[json]?.type === JSON_TYPE
  return htmlQuality === jsonQuality ? !isNamed || html < json : htmlQuality > jsonQuality
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

const rangesOf = ({ headers }: Request): readonly MediaRange[] =>
  (headers.get('accept') ?? '')
    .slice(0, MAX_HEADER)
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const given = parameters.map((parameter) => QUALITY.exec(parameter)?.[1])
      return { type, quality: Number(given.find((quality) => quality !== undefined) ?? '1') }
    })
