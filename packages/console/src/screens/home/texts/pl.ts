import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Strona główna',
  lead: 'Co działo się w witrynie {domain} przez ostatnie 24 godziny.',
  calls: 'Wywołania',
  errors: 'Nieudane wywołania',
  cpu: 'Czas procesora',
  storage: 'Zapisane dane',
}
