import { signal } from '@preact/signals'

export type Overlay = 'keys' | 'palette' | undefined

/** What lies over the screen. */
export const overlay = signal<Overlay>(undefined)

/** Keys that work everywhere. Without a modifier they do not count while text is typed. */
export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.altKey) return
    if (event.metaKey || event.ctrlKey) togglePalette(event)
    else if (!isTyping(event.target) && !document.querySelector('dialog[open]')) followKey(event)
  })
}

function togglePalette(event: KeyboardEvent): void {
  if (event.key.toLowerCase() !== 'k') return
  event.preventDefault()
  overlay.value = overlay.value === 'palette' ? undefined : 'palette'
}

function followKey(event: KeyboardEvent): void {
  if (event.key === '?') overlay.value = 'keys'
  if (event.key === '/') focusSearch(event)
}

function focusSearch(event: KeyboardEvent): void {
  event.preventDefault()
  const search = document.querySelector<HTMLInputElement>('[data-search]')
  if (search === null) overlay.value = 'palette'
  search?.select()
  search?.focus()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select'))
