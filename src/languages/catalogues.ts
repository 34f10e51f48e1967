import { IntlMessageFormat } from 'intl-messageformat'

import type { Language } from '#base/language.ts'

import de from './catalogues/de.json' with { type: 'json' }
import en from './catalogues/en.json' with { type: 'json' }
import es from './catalogues/es.json' with { type: 'json' }
import fr from './catalogues/fr.json' with { type: 'json' }
import it from './catalogues/it.json' with { type: 'json' }
import ja from './catalogues/ja.json' with { type: 'json' }
import pl from './catalogues/pl.json' with { type: 'json' }
import pt from './catalogues/pt.json' with { type: 'json' }
import { localeOf } from './language.ts'

/** The name of a text; all catalogues have the same ones. */
export type TextKey = keyof typeof en
export type Catalogue = Readonly<Record<TextKey, string>>

/** Each text in the syntax of ICU's MessageFormat. */
export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, de, fr, es, pt, it, pl, ja }

export const TEXT_KEYS = Object.keys(en) as readonly TextKey[]

const formatters = new Map<string, IntlMessageFormat>()

/** Read once, when the text is first asked for. */
export function formatterOf(language: Language, key: TextKey): IntlMessageFormat {
  const name = `${language} ${key}`
  const known = formatters.get(name)
  if (known) return known
  const made = new IntlMessageFormat(CATALOGUES[language][key], localeOf(language))
  formatters.set(name, made)
  return made
}
