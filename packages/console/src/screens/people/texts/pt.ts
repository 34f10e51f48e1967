import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': 'Administradores',
  'admins.lead': 'Pessoas que podem entrar aqui e usar a API de administração deste site.',
  'admins.search': 'Procurar por endereço',
  'admins.invite': 'Convidar',
  'admins.address': 'Endereço',
  'admins.role': 'Função',
  'admins.status': 'Estado',
  'admins.none': 'Nenhum administrador tem um endereço assim',
  'admins.none-lead': 'Procure outra parte do endereço ou convide a pessoa.',
  'status.INVITED': 'Convidado',
  'status.ACTIVE': 'Ativo',
  'invite.title': 'Convidar uma pessoa',
  'invite.email': 'Endereço de email',
  'invite.email-hint':
    'O convite é enviado para ele. No domínio do site, é também a caixa de correio da pessoa.',
  'invite.external': 'Enviar o convite para',
  'invite.external-hint':
    'Outro endereço, se a pessoa ainda não consegue ler essa caixa de correio.',
  'invite.send': 'Enviar o convite',
  'invite.sent': 'O convite para {email} foi enviado',
  'role.hint':
    'Os utilizadores leem as suas próprias caixas de correio, os administradores gerem o site, os superadministradores alteram também as funções de superadministradores.',
  'admin.lead': 'Administrador deste site',
}
