import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Se va tutto bene e che cosa è successo.',
  'lead-user': 'Il tuo account su questo sito.',
  'to-do.title': 'Che cosa richiede una persona',
  'to-do.none': 'Al momento non c’è nulla da fare.',
  'to-do.invited':
    '{count, plural, one {# invito non è ancora accettato} many {# inviti non sono ancora accettati} other {# inviti non sono ancora accettati}}',
  'to-do.jobs':
    '{count, plural, one {L’ultima esecuzione di # attività pianificata non è riuscita} many {Le ultime esecuzioni di # attività pianificate non sono riuscite} other {Le ultime esecuzioni di # attività pianificate non sono riuscite}}',
  'to-do.suppressed':
    '{count, plural, one {# indirizzo rifiuta la posta e non ne riceve più} many {# indirizzi rifiutano la posta e non ne ricevono più} other {# indirizzi rifiutano la posta e non ne ricevono più}}',
  'to-do.definition': 'L’ultima definizione non è stata applicata',
  period: 'Periodo',
  'period.24h': 'Ultime 24 ore',
  'period.30d': 'Ultimi 30 giorni',
  calls: 'Chiamate',
  errors: 'Chiamate fallite',
  cpu: 'Tempo di CPU',
  chart: '{what}: {total}, {period}',
  stored: 'Archiviato',
  'stored.tables': 'Tabelle',
  'stored.buckets': 'Bucket',
  'stored.mail': 'Posta',
  facts: 'Informazioni sul sito',
  'facts.domain': 'Dominio',
  'facts.account': 'Accesso come',
  'facts.version': 'Versione di Croft',
  'facts.runtime': 'Codice del sito',
  'facts.ready': 'Pronto',
  'facts.not-ready': 'Non pronto',
  'facts.revision': 'Revisione {number}',
  'facts.definition': 'Ultima definizione',
}
