import type { TEXTS } from './en.ts'
import { defineTexts } from './texts.ts'

export type ShellKey = keyof typeof TEXTS

/** The texts of the shell, its components and the titles of all screens. */
export const t = defineTexts<ShellKey>({
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  pt: () => import('./pt.ts'),
  it: () => import('./it.ts'),
  pl: () => import('./pl.ts'),
  ja: () => import('./ja.ts'),
})
