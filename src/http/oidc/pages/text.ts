import type { DisplayText } from '#base/app-error.ts'
import type { Language } from '#base/language.ts'
import {
  type Localized,
  type LocalizedText,
  isLocalized,
  localized,
  textIn,
} from '#languages/message.ts'

/** What a failure says to people: in their language where it is one that they meet, and else in English. */
export const textOf = (failure: {
  readonly message: string
  readonly text?: DisplayText | undefined
}): LocalizedText => (isLocalized(failure.text) ? failure.text : failure.message)

/** Messages of the API end without a full stop; on pages they end with one. */
export const withFullStop = (words: LocalizedText): Localized =>
  changed(words, (text, language) => {
    if (/[.!?。！？]$/.test(text)) return text
    return language === 'ja' ? `${text}。` : `${text}.`
  })

export const capitalized = (words: LocalizedText): Localized =>
  changed(words, (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`)

const changed = (
  words: LocalizedText,
  change: (text: string, language: Language) => string,
): Localized => localized((language) => change(textIn(words, language), language))
