import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Ob alles in Ordnung ist, und was geschehen ist.',
  'lead-user': 'Ihr Konto auf dieser Website.',
  'to-do.title': 'Was jemanden braucht',
  'to-do.none': 'Im Moment ist nichts zu tun.',
  'to-do.invited':
    '{count, plural, one {# Einladung ist noch nicht angenommen} other {# Einladungen sind noch nicht angenommen}}',
  'to-do.jobs':
    '{count, plural, one {Der letzte Lauf von # Job ist fehlgeschlagen} other {Die letzten Läufe von # Jobs sind fehlgeschlagen}}',
  'to-do.suppressed':
    '{count, plural, one {# Adresse nimmt keine E-Mails an und bekommt keine mehr} other {# Adressen nehmen keine E-Mails an und bekommen keine mehr}}',
  'to-do.definition': 'Die letzte Definition wurde nicht angewendet',
  period: 'Zeitraum',
  'period.24h': 'Letzte 24 Stunden',
  'period.30d': 'Letzte 30 Tage',
  calls: 'Aufrufe',
  errors: 'Fehlgeschlagene Aufrufe',
  cpu: 'CPU-Zeit',
  chart: '{what}: {total}, {period}',
  stored: 'Gespeichert',
  'stored.tables': 'Tabellen',
  'stored.buckets': 'Buckets',
  'stored.mail': 'E-Mails',
  facts: 'Über diese Website',
  'facts.domain': 'Domain',
  'facts.account': 'Angemeldet als',
  'facts.version': 'Croft-Version',
  'facts.runtime': 'Website-Code',
  'facts.ready': 'Bereit',
  'facts.not-ready': 'Nicht bereit',
  'facts.revision': 'Revision {number}',
  'facts.definition': 'Letzte Definition',
}
