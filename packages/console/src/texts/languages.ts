/** The subtags of BCP 47, as the service knows them. The first one is the default. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'pl', 'ja'] as const
export type ConsoleLanguage = (typeof LANGUAGES)[number]

/** Each in its own words. */
export const LANGUAGE_NAMES: Readonly<Record<ConsoleLanguage, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  it: 'Italiano',
  pl: 'Polski',
  ja: '日本語',
}

/** The first of these tags that is of a language of the console: `de-AT` is German. */
export function languageOf(
  tags: readonly (string | null | undefined)[],
): ConsoleLanguage | undefined {
  for (const tag of tags) {
    const [subtag] = (tag ?? '').toLowerCase().split('-')
    const language = LANGUAGES.find((known) => known === subtag)
    if (language !== undefined) return language
  }
  return undefined
}

/** Whose dates and numbers are written. English here is not that of one country. */
export const localeOf = (language: ConsoleLanguage): string =>
  language === 'en' ? 'en-GB' : language
