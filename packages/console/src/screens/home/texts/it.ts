import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Panoramica',
  lead: 'Che cosa è successo su {domain} nelle ultime 24 ore.',
  calls: 'Chiamate',
  errors: 'Chiamate fallite',
  cpu: 'Tempo di CPU',
  storage: 'Archiviato',
}
