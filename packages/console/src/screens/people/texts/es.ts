import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Administradores',
  'admins.lead':
    'Personas que pueden iniciar sesión aquí y usar la API de administración de este sitio.',
  'admins.search': 'Buscar por dirección',
  'admins.invite': 'Invitar',
  'admins.address': 'Dirección',
  'admins.role': 'Rol',
  'admins.status': 'Estado',
  'admins.none': 'Ningún administrador tiene esa dirección',
  'admins.none-lead': 'Busque otra parte de la dirección o invite a la persona.',
  'status.INVITED': 'Invitado',
  'status.ACTIVE': 'Activo',
  'invite.title': 'Invitar a una persona',
  'invite.email': 'Correo electrónico',
  'invite.email-hint':
    'A él se envía la invitación. En el dominio del sitio, es también el buzón de la persona.',
  'invite.external': 'Enviar la invitación a',
  'invite.external-hint': 'Otra dirección, si la persona aún no puede leer ese buzón.',
  'invite.send': 'Enviar la invitación',
  'invite.sent': 'La invitación a {email} se ha enviado',
  'role.hint':
    'Los usuarios leen sus propios buzones, los administradores gestionan el sitio y los superadministradores cambian también los roles de otros superadministradores.',
  'admin.lead': 'Administrador de este sitio',
}
