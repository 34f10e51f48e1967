import type { DisplayText } from '#base/app-error.ts'
import type { Language } from '#base/language.ts'

import { TEXT_KEYS, type TextKey, formatterOf } from './catalogues.ts'
import { DEFAULT_LANGUAGE, localeOf } from './language.ts'

/** A text in the language of its reader. */
export interface Localized extends DisplayText {
  in(language: Language): string
}

/** What is written by the rules of each language, not read from the catalogues. */
export const localized = (write: (language: Language) => string): Localized => ({
  in: write,
  toString: () => write(DEFAULT_LANGUAGE),
})

/** Text as it is, or in the reader's language. */
export type LocalizedText = string | Localized

/** Pieces of pages are no texts: they are rendered, not escaped. */
export const isLocalized = (value: unknown): value is Localized =>
  typeof value === 'object' && value !== null && 'in' in value && typeof value.in === 'function'

export const textIn = (text: LocalizedText, language: Language): string =>
  typeof text === 'string' ? text : text.in(language)

/** The values of a message, by their names in it. Messages of pages may contain pieces of pages. */
export type MessageValues = Readonly<Record<string, unknown>>

/** Wraps the text between `<b>` and `</b>` in a message. */
type Emphasis = (parts: readonly unknown[]) => unknown

/** One text of the catalogues, with its values. As text it is English: for programs and logs. */
export class LocalizedMessage implements Localized {
  readonly #key: TextKey
  readonly #values: MessageValues

  constructor(key: TextKey, values: MessageValues) {
    this.#key = key
    this.#values = values
  }

  in(language: Language): string {
    return this.partsIn(language, (parts) => parts.join('')).join('')
  }

  /** The pieces of it: text, and values that are no text. */
  partsIn(language: Language, b: Emphasis): readonly unknown[] {
    const values: Record<string, unknown> = { b }
    for (const [name, value] of Object.entries(this.#values))
      values[name] = valueIn(value, language)
    const formatted: unknown = formatterOf(language, this.#key).format(values)
    return Array.isArray(formatted) ? formatted : [formatted]
  }

  toString(): string {
    return this.in(DEFAULT_LANGUAGE)
  }

  /** Leaves it out: programs read the English text beside it. */
  toJSON(): undefined {
    return undefined
  }
}

export const t = (key: TextKey, values: MessageValues = {}): LocalizedMessage =>
  new LocalizedMessage(key, values)

/** Reads what most people read before the first of them comes: to read all of it at once takes as long as a busy moment may. */
export function prepareTexts(): void {
  for (const key of TEXT_KEYS) formatterOf(DEFAULT_LANGUAGE, key)
  t('page.error', { title: t('sign-in.title') }).in(DEFAULT_LANGUAGE)
}

function valueIn(value: unknown, language: Language): unknown {
  if (isLocalized(value)) return value.in(language)
  return value instanceof Date ? timeIn(value, language) : value
}

/** `Fri, 27 Nov 2026, 12:00 UTC` */
const timeIn = (time: Date, language: Language): string => timeFormatOf(language).format(time)

const timeFormats = new Map<Language, Intl.DateTimeFormat>()

/** Made once: it takes milliseconds. */
function timeFormatOf(language: Language): Intl.DateTimeFormat {
  const known = timeFormats.get(language)
  if (known) return known
  const made = new Intl.DateTimeFormat(localeOf(language), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  })
  timeFormats.set(language, made)
  return made
}
