import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Si tout va bien, et ce qui s’est passé.',
  'lead-user': 'Votre compte sur ce site.',
  'to-do.title': 'Ce qui demande une personne',
  'to-do.none': 'Rien ne demande votre attention.',
  'to-do.invited':
    '{count, plural, one {# invitation n’est pas encore acceptée} many {# invitations ne sont pas encore acceptées} other {# invitations ne sont pas encore acceptées}}',
  'to-do.jobs':
    '{count, plural, one {La dernière exécution de # tâche a échoué} many {Les dernières exécutions de # tâches ont échoué} other {Les dernières exécutions de # tâches ont échoué}}',
  'to-do.suppressed':
    '{count, plural, one {# adresse refuse les e-mails et n’en reçoit plus} many {# adresses refusent les e-mails et n’en reçoivent plus} other {# adresses refusent les e-mails et n’en reçoivent plus}}',
  'to-do.definition': 'La dernière définition n’a pas été appliquée',
  period: 'Période',
  'period.24h': 'Dernières 24 heures',
  'period.30d': '30 derniers jours',
  calls: 'Appels',
  errors: 'Appels échoués',
  cpu: 'Temps processeur',
  chart: '{what} : {total}, {period}',
  stored: 'Stockage',
  'stored.tables': 'Tables',
  'stored.buckets': 'Buckets',
  'stored.mail': 'E-mails',
  facts: 'À propos de ce site',
  'facts.domain': 'Domaine',
  'facts.account': 'Connecté en tant que',
  'facts.version': 'Version de Croft',
  'facts.runtime': 'Code du site',
  'facts.ready': 'Prêt',
  'facts.not-ready': 'Pas prêt',
  'facts.revision': 'Révision {number}',
  'facts.definition': 'Dernière définition',
}
