import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Admins',
  'admins.lead': 'Personen, die sich hier anmelden und die Admin-API dieser Website nutzen dürfen.',
  'admins.search': 'Nach Adresse suchen',
  'admins.invite': 'Einladen',
  'admins.address': 'Adresse',
  'admins.role': 'Rolle',
  'admins.status': 'Status',
  'admins.none': 'Kein Admin hat eine solche Adresse',
  'admins.none-lead':
    'Suchen Sie nach einem anderen Teil der Adresse, oder laden Sie die Person ein.',
  'status.INVITED': 'Eingeladen',
  'status.ACTIVE': 'Aktiv',
  'invite.title': 'Person einladen',
  'invite.email': 'E-Mail-Adresse',
  'invite.email-hint':
    'Dorthin geht die Einladung. Auf der eigenen Domain der Website ist sie auch das Postfach der Person.',
  'invite.external': 'Einladung senden an',
  'invite.external-hint':
    'Eine andere Adresse, falls die Person dieses Postfach noch nicht lesen kann.',
  'invite.send': 'Einladung senden',
  'invite.sent': 'Die Einladung an {email} ist gesendet',
  'role.hint':
    'Benutzer lesen ihre eigenen Postfächer, Admins verwalten die Website, Super-Admins ändern auch die Rollen von Super-Admins.',
  'admin.lead': 'Admin dieser Website',
}
