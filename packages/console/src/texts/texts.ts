import { signal } from '@preact/signals'

import type { ConsoleLanguage } from './languages.ts'
import { type MessageValues, formatMessage } from './message.ts'

type Catalogue<Key extends string> = Readonly<Record<Key, string>>

/** One module for each language, loaded when it is needed. */
type Loaders<Key extends string> = Readonly<
  Record<ConsoleLanguage, () => Promise<{ readonly TEXTS: Catalogue<Key> }>>
>

/** Writes a text in the language of the reader. A component that calls it is rendered again when the language changes. */
export type Texts<Key extends string> = (key: Key, values?: MessageValues) => string

interface Registered {
  load(language: ConsoleLanguage): Promise<void>
}

const registered = new Set<Registered>()
const current = signal<ConsoleLanguage>('en')

/** The language of the reader. Read in a component, it renders the component again when it changes. */
export const currentLanguage = (): ConsoleLanguage => current.value

/** The texts of one area. The router waits for them before it shows a screen. */
export function defineTexts<Key extends string>(loaders: Loaders<Key>): Texts<Key> {
  const loaded = new Map<ConsoleLanguage, Catalogue<Key>>()
  registered.add({
    async load(language) {
      if (!loaded.has(language)) loaded.set(language, (await loaders[language]()).TEXTS)
    },
  })
  return (key, values = {}) => {
    const language = current.value
    const text = loaded.get(language)?.[key]
    return text === undefined ? '' : formatMessage(text, values, language)
  }
}

/** Loads what the areas that are there say in the current language. */
export const loadTexts = (language: ConsoleLanguage = current.peek()): Promise<unknown> =>
  Promise.all([...registered].map((area) => area.load(language)))

export async function setLanguage(language: ConsoleLanguage): Promise<void> {
  await loadTexts(language)
  current.value = language
}
