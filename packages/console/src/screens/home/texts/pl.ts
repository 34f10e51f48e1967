import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Czy wszystko działa i co się działo.',
  'lead-user': 'Twoje konto w tej witrynie.',
  'to-do.title': 'Co wymaga uwagi',
  'to-do.none': 'Teraz nic nie wymaga uwagi.',
  'to-do.invited':
    '{count, plural, one {# zaproszenie nie zostało jeszcze przyjęte} few {# zaproszenia nie zostały jeszcze przyjęte} many {# zaproszeń nie zostało jeszcze przyjętych} other {# zaproszenia nie zostało jeszcze przyjęte}}',
  'to-do.jobs':
    '{count, plural, one {Ostatni przebieg # zadania nie powiódł się} few {Ostatnie przebiegi # zadań nie powiodły się} many {Ostatnie przebiegi # zadań nie powiodły się} other {Ostatnie przebiegi # zadania nie powiodły się}}',
  'to-do.suppressed':
    '{count, plural, one {# adres nie przyjmuje poczty i już jej nie dostaje} few {# adresy nie przyjmują poczty i już jej nie dostają} many {# adresów nie przyjmuje poczty i już jej nie dostaje} other {# adresu nie przyjmuje poczty i już jej nie dostaje}}',
  'to-do.definition': 'Ostatnia definicja nie została zastosowana',
  period: 'Okres',
  'period.24h': 'Ostatnie 24 godziny',
  'period.30d': 'Ostatnie 30 dni',
  calls: 'Wywołania',
  errors: 'Nieudane wywołania',
  cpu: 'Czas procesora',
  chart: '{what}: {total}, {period}',
  stored: 'Zapisane dane',
  'stored.tables': 'Tabele',
  'stored.buckets': 'Zasobniki',
  'stored.mail': 'Poczta',
  facts: 'O tej witrynie',
  'facts.domain': 'Domena',
  'facts.account': 'Zalogowano jako',
  'facts.version': 'Wersja Croft',
  'facts.runtime': 'Kod witryny',
  'facts.ready': 'Gotowy',
  'facts.not-ready': 'Niegotowy',
  'facts.revision': 'Rewizja {number}',
  'facts.definition': 'Ostatnia definicja',
}
