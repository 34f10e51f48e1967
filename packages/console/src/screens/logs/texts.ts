import { defineTexts } from '#app/texts/texts.ts'

import type { TEXTS } from './texts/en.ts'

export const t = defineTexts<keyof typeof TEXTS>({
  en: () => import('./texts/en.ts'),
  de: () => import('./texts/de.ts'),
  fr: () => import('./texts/fr.ts'),
  es: () => import('./texts/es.ts'),
  pt: () => import('./texts/pt.ts'),
  it: () => import('./texts/it.ts'),
  pl: () => import('./texts/pl.ts'),
  ja: () => import('./texts/ja.ts'),
})
