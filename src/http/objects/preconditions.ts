interface Validators {
  /** Strong, quoted as in HTTP. */
  readonly etag: string
  /** Left out where no time is known: conditions about one do not count then. */
  readonly lastModified?: Date
}

/**
 * RFC 9110 §13.2.2, for GET and HEAD of something that is there. By hand, because `fresh` knows neither If-Match nor
 * If-Unmodified-Since, and answers a reload (`Cache-Control: no-cache`) in full.
 */
export function evaluatePreconditions(
  headers: Headers,
  { etag, lastModified }: Validators,
): 'failed' | 'unmodified' | undefined {
  const match = headers.get('if-match')
  // Nothing is before or after an unknown time.
  const since = lastModified ? secondsOf(lastModified) : Number.NaN
  if (match !== null) {
    if (!names(match, (tag) => tag === etag)) return 'failed'
  } else if (since > (dateIn(headers, 'if-unmodified-since') ?? Infinity)) return 'failed'
  const noneMatch = headers.get('if-none-match')
  if (noneMatch !== null) {
    // Weakly: a proxy that compresses makes `"x"` to `W/"x"`.
    return names(noneMatch, (tag) => strong(tag) === strong(etag)) ? 'unmodified' : undefined
  }
  return since <= (dateIn(headers, 'if-modified-since') ?? -Infinity) ? 'unmodified' : undefined
}

/** RFC 9110 §13.1.5: whether the range is one of what the client has. A date says too little: two versions share a second. */
export function matchesIfRange(headers: Headers, { etag }: Pick<Validators, 'etag'>): boolean {
  const condition = headers.get('if-range')
  return condition === null || condition.trim() === etag
}

/** Whether a list of entity tags names one that `fits`; `*` names any. */
const names = (list: string, fits: (tag: string) => boolean): boolean =>
  list.trim() === '*' || (list.match(/(?:W\/)?"[^"]*"/g) ?? []).some(fits)

const strong = (tag: string): string => tag.replace(/^W\//, '')

/** In whole seconds, as HTTP tells them. Undefined for what is no date, which counts as not sent. */
function dateIn(headers: Headers, name: string): number | undefined {
  const time = Date.parse(headers.get(name) ?? '')
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000)
}

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)
