import { computed, signal } from '@preact/signals'

/** The first parts of paths that the service answers itself, as `src/sites/static/reserved-paths.ts` has them, and of its files. Links there leave the console. */
const RESERVED = new Set([
  '-',
  'admin',
  'data',
  'healthz',
  'livez',
  'objects',
  'oidc',
  'portal',
  'readyz',
  'site.git',
])

const address = signal(new URL('https://console.invalid/'))

/** The path on show. */
export const currentPath = computed(() => address.value.pathname)

/** The query on show, by name: `currentQuery.value.get('q')`. */
export const currentQuery = computed(() => address.value.searchParams)

/** The number of steps in the history of this tab: a screen that is gone back to is not scrolled to its top. */
let isBack = false
export const wasBack = (): boolean => isBack

/** The path, query and fragment, to return to. */
export const currentPlace = (): string => {
  const { pathname, search, hash } = address.peek()
  return pathname + search + hash
}

export interface NavigateOptions {
  /** Changes the entry of the history in place of adding one. */
  readonly replace?: boolean
}

/** Shows the screen of that path, with its query. */
export function navigate(to: string, { replace = false }: NavigateOptions = {}): void {
  const next = new URL(to, location.origin)
  if (next.origin !== location.origin || isReserved(next.pathname)) {
    location.assign(next)
    return
  }
  isBack = false
  if (replace) history.replaceState(null, '', next)
  else if (next.href !== location.href) history.pushState(null, '', next)
  address.value = next
}

/** Changes the query and keeps the path. Filters of a list belong there: they are kept by reloads, links and the way back. */
export function setQuery(
  change: Readonly<Record<string, string | undefined>>,
  options: NavigateOptions = { replace: true },
): void {
  const next = new URL(address.peek())
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  navigate(next.href, options)
}

/** Follows the address of the tab, and takes clicks on links to screens. */
export function startRouter(): void {
  history.scrollRestoration = 'manual'
  address.value = new URL(location.href)
  addEventListener('popstate', () => {
    isBack = true
    address.value = new URL(location.href)
  })
  document.addEventListener('click', (event) => {
    const href = followedLink(event)
    if (href === undefined) return
    event.preventDefault()
    navigate(href)
  })
}

/** The address of a link to a screen that is clicked as such: without keys held, and for this tab. */
function followedLink(event: MouseEvent): string | undefined {
  const { target } = event
  const link = target instanceof Element ? target.closest('a') : null
  return link !== null && isPlainClick(event) && leadsToScreen(link) ? link.href : undefined
}

const isPlainClick = (event: MouseEvent): boolean =>
  !event.defaultPrevented &&
  event.button === 0 &&
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)

function leadsToScreen(link: HTMLAnchorElement): boolean {
  // A link within the page moves the focus: the browser does it.
  const isFragment = link.getAttribute('href')?.startsWith('#') ?? true
  const isHere = link.target === '' && !link.hasAttribute('download')
  return isHere && !isFragment && link.origin === location.origin && !isReserved(link.pathname)
}

const isReserved = (path: string): boolean => RESERVED.has(path.split('/')[1] ?? '')
