import { defineTexts } from '#app/texts/texts.ts'

import type { TEXTS } from './setup-texts/en.ts'

/** Of the screens where admins set up mail. */
export const setupText = defineTexts<keyof typeof TEXTS>({
  en: () => import('./setup-texts/en.ts'),
  de: () => import('./setup-texts/de.ts'),
  fr: () => import('./setup-texts/fr.ts'),
  es: () => import('./setup-texts/es.ts'),
  pt: () => import('./setup-texts/pt.ts'),
  it: () => import('./setup-texts/it.ts'),
  pl: () => import('./setup-texts/pl.ts'),
  ja: () => import('./setup-texts/ja.ts'),
})
