import { signal } from '@preact/signals'

const STORED = 'croft-theme'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const theme = signal<Theme>('system')

export const currentTheme = (): Theme => theme.value

export function setTheme(next: Theme): void {
  theme.value = next
  localStorage.setItem(STORED, next)
  apply()
}

/** Before the first paint. */
export function startTheme(): void {
  theme.value = THEMES.find((known) => known === localStorage.getItem(STORED)) ?? 'system'
  apply()
}

/** The style sheet does the rest: without the attribute it follows the system. */
function apply(): void {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
}
