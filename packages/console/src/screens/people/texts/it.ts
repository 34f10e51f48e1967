import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Amministratori',
  'admins.lead':
    'Persone che possono accedere qui e usare l’API di amministrazione di questo sito.',
  'admins.search': 'Cerca per indirizzo',
  'admins.invite': 'Invita',
  'admins.address': 'Indirizzo',
  'admins.role': 'Ruolo',
  'admins.status': 'Stato',
  'admins.none': 'Nessun amministratore ha un indirizzo simile',
  'admins.none-lead': 'Cerca un’altra parte dell’indirizzo o invita la persona.',
  'status.INVITED': 'Invitato',
  'status.ACTIVE': 'Attivo',
  'invite.title': 'Invita una persona',
  'invite.email': 'Indirizzo email',
  'invite.email-hint':
    'L’invito viene inviato qui. Sul dominio del sito è anche la casella della persona.',
  'invite.external': 'Invia l’invito a',
  'invite.external-hint':
    'Un altro indirizzo, se la persona non può ancora leggere quella casella.',
  'invite.send': 'Invia l’invito',
  'invite.sent': 'L’invito a {email} è stato inviato',
  'role.hint':
    'Gli utenti leggono le proprie caselle, gli amministratori gestiscono il sito, i super amministratori cambiano anche i ruoli dei super amministratori.',
  'admin.lead': 'Amministratore di questo sito',
}
