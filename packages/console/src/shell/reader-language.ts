import type { ConsoleConfig } from '#app/console-config.ts'
import { type ConsoleLanguage, LANGUAGES, languageOf } from '#app/texts/languages.ts'
import { setLanguage } from '#app/texts/texts.ts'

const STORED = 'croft-language'

/** What the reader chose here, else what the server chose by the browser's languages. */
export const readerLanguage = (): ConsoleLanguage =>
  languageOf([
    localStorage.getItem(STORED),
    document.documentElement.lang,
    ...navigator.languages,
  ]) ?? 'en'

/** Keeps the choice in this browser. */
export async function chooseLanguage(language: ConsoleLanguage): Promise<void> {
  localStorage.setItem(STORED, language)
  await showLanguage(language)
}

export async function showLanguage(language: ConsoleLanguage): Promise<void> {
  await setLanguage(language)
  document.documentElement.lang = language
}

export const languagesOf = ({ languages }: ConsoleConfig): readonly ConsoleLanguage[] =>
  languages.length > 0 ? languages : LANGUAGES
