import type { LocalizedText } from '#base/app-error.ts'
import type { Language } from '#base/language.ts'
import { type Localized, type Words, isLocalized, localized, wordsIn } from '#languages/message.ts'

/** What a failure says to people: in their language where it is one that they meet, and else in English. */
export const wordsOf = (failure: {
  readonly message: string
  readonly text?: LocalizedText | undefined
}): Words => (isLocalized(failure.text) ? failure.text : failure.message)

/** Messages of the API end without a full stop; on pages they end with one. */
export const withFullStop = (words: Words): Localized =>
  changed(words, (text, language) => {
    if (/[.!?。！？]$/.test(text)) return text
    return language === 'ja' ? `${text}。` : `${text}.`
  })

export const capitalized = (words: Words): Localized =>
  changed(words, (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`)

const changed = (words: Words, change: (text: string, language: Language) => string): Localized =>
  localized((language) => change(wordsIn(words, language), language))
