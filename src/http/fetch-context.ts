/**
 * What a browser says that a request is for: a page that its user goes to, a frame of a page, or something that a script asks
 * for. `unsaid` by programs, by browsers from before 2023, and over plain HTTP to any host but this machine.
 */
export type FetchContext = 'navigation' | 'frame' | 'script' | 'unsaid'

/** Fetch Metadata Request Headers, section 2: no script can set these headers, or leave them out. */
export function fetchContextOf({ headers }: Pick<Request, 'headers'>): FetchContext {
  const mode = headers.get('sec-fetch-mode')
  const destination = headers.get('sec-fetch-dest')
  if ((mode ?? 'navigate') !== 'navigate' || isAhead(headers)) return 'script'
  if ((destination ?? 'document') !== 'document') return 'frame'
  return mode === null || destination === null ? 'unsaid' : 'navigation'
}

/** Whether the page is not navigated to yet: a service worker is given the response to read, or the browser fetches it ahead. */
const isAhead = (headers: Headers): boolean =>
  headers.has('service-worker-navigation-preload') || headers.has('sec-purpose')
