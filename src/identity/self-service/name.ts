import { invalid } from '#base/app-error.ts'
import { isStorable } from '#base/storable-text.ts'
import { t } from '#languages/message.ts'

import { MAX_NAME_LENGTH } from './model.ts'

/** What people call themselves or their devices; null for nothing. 400 `ValidationError`. */
export function storableName(typed: string): string | null {
  const name = typed.trim().replaceAll(/\s+/g, ' ')
  if (name === '') return null
  if (name.length > MAX_NAME_LENGTH) {
    throw invalid('name', t('fault.name-length', { count: MAX_NAME_LENGTH }))
  }
  // Line breaks are blanks by now; whatever else gives orders to a terminal, or turns the words around it, is refused.
  if (!isStorable(name) || /[\p{Cc}\p{Bidi_Control}]/u.test(name)) {
    throw invalid('name', t('fault.name-controls'))
  }
  return name
}
