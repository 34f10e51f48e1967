import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Administrateurs',
  'admins.lead':
    'Personnes qui peuvent se connecter ici et utiliser l’API d’administration de ce site.',
  'admins.search': 'Rechercher une adresse',
  'admins.invite': 'Inviter',
  'admins.address': 'Adresse',
  'admins.role': 'Rôle',
  'admins.status': 'État',
  'admins.none': 'Aucun administrateur n’a une telle adresse',
  'admins.none-lead': 'Cherchez une autre partie de l’adresse, ou invitez la personne.',
  'status.INVITED': 'Invité',
  'status.ACTIVE': 'Actif',
  'invite.title': 'Inviter une personne',
  'invite.email': 'Adresse e-mail',
  'invite.email-hint':
    'L’invitation y est envoyée. Sur le domaine du site, c’est aussi la boîte aux lettres de la personne.',
  'invite.external': 'Envoyer l’invitation à',
  'invite.external-hint': 'Une autre adresse, si la personne ne peut pas encore lire cette boîte.',
  'invite.send': 'Envoyer l’invitation',
  'invite.sent': 'L’invitation à {email} est envoyée',
  'role.hint':
    'Les utilisateurs lisent leurs propres boîtes, les administrateurs gèrent le site, les super-administrateurs changent aussi les rôles des super-administrateurs.',
  'admin.lead': 'Administrateur de ce site',
}
