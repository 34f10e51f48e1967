import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Accueil',
  lead: 'Ce qui s’est passé sur {domain} ces dernières 24 heures.',
  calls: 'Appels',
  errors: 'Appels échoués',
  cpu: 'Temps processeur',
  storage: 'Stockage',
}
