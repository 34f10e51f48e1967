import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Administratorzy',
  'admins.lead':
    'Osoby, które mogą się tu logować i używać interfejsu API administracji tej witryny.',
  'admins.search': 'Szukaj adresu',
  'admins.invite': 'Zaproś',
  'admins.address': 'Adres',
  'admins.role': 'Rola',
  'admins.status': 'Stan',
  'admins.none': 'Żaden administrator nie ma takiego adresu',
  'admins.none-lead': 'Poszukaj innej części adresu albo zaproś tę osobę.',
  'status.INVITED': 'Zaproszenie wysłane',
  'status.ACTIVE': 'Aktywne',
  'invite.title': 'Zaproś osobę',
  'invite.email': 'Adres e-mail',
  'invite.email-hint':
    'Na ten adres trafia zaproszenie. W domenie witryny jest to także skrzynka tej osoby.',
  'invite.external': 'Wyślij zaproszenie na adres',
  'invite.external-hint': 'Inny adres, jeśli ta osoba nie może jeszcze czytać tej skrzynki.',
  'invite.send': 'Wyślij zaproszenie',
  'invite.sent': 'Zaproszenie na adres {email} zostało wysłane',
  'role.hint':
    'Użytkownicy czytają własne skrzynki, administratorzy prowadzą witrynę, superadministratorzy zmieniają też role superadministratorów.',
  'admin.lead': 'Administrator tej witryny',
}
