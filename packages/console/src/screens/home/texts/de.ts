import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Übersicht',
  lead: 'Was auf {domain} in den letzten 24 Stunden geschehen ist.',
  calls: 'Aufrufe',
  errors: 'Fehlgeschlagene Aufrufe',
  cpu: 'CPU-Zeit',
  storage: 'Gespeichert',
}
