import { LANGUAGES, type Language } from '#base/language.ts'

export const DEFAULT_LANGUAGE: Language = 'en'

/** No reader uses further ones. */
const MAX_TAGS = 20

/** The first of these tags, best first, that is of a language of ours: `de-AT` is German. */
export function firstLanguage(tags: readonly string[]): Language | undefined {
  for (const tag of tags.slice(0, MAX_TAGS)) {
    const [subtag = ''] = tag.toLowerCase().split('-')
    const language = LANGUAGES.find((known) => known === subtag)
    if (language !== undefined) return language
  }
  return undefined
}

/** No application sends longer lists of tags. */
const MAX_LOCALES = 500

/** The language that an application asks for in `ui_locales` (OpenID Connect Core section 3.1.2.1): tags, best first, with spaces between them. */
export const languageOfLocales = (locales: string | null | undefined): Language | undefined =>
  firstLanguage((locales ?? '').slice(0, MAX_LOCALES).split(' ').filter(Boolean))

/** Whose dates and lists are written. English here is not that of one country, so its days come before its months. */
export const localeOf = (language: Language): string => (language === 'en' ? 'en-GB' : language)
