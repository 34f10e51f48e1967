import type { TEXTS as ENGLISH } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof ENGLISH, string>> = {
  'aliases.title': 'Aliases',
  'aliases.lead': 'Endereços deste site que levam a caixas de correio.',
  'aliases.add': 'Criar um alias',
  'aliases.edit': 'Alterar o alias',
  'aliases.address': 'Endereço',
  'aliases.address-hint': 'Por exemplo, office@{domain}.',
  'aliases.targets': 'Caixas de correio',
  'aliases.targets-hint': 'Endereços de caixas deste site, um por linha.',
  'aliases.none': 'Ainda não há aliases',
  'aliases.none-lead':
    'Com um alias, uma caixa recebe o correio de vários endereços, ou várias caixas o de um só.',
  'aliases.saved': 'O alias {address} foi guardado',
  'aliases.deleted': 'O alias {address} foi eliminado',
  'setup.save': 'Guardar',
  'setup.change': 'Alterar',
  'setup.delete': 'Eliminar',
  'setup.add': 'Adicionar',
  'setup.remove': 'Remover',
  'setup.actions': 'Ações para {name}',
  'contact.title': 'Destinatários do formulário de contacto',
  'contact.lead':
    'O que se escreve no formulário de contacto do site é enviado para estes endereços.',
  'contact.add': 'Adicionar destinatários',
  'contact.addresses': 'Endereços',
  'contact.addresses-hint': 'Quaisquer endereços, um por linha.',
  'contact.since': 'Desde',
  'contact.none': 'O formulário de contacto ainda não tem destinatários',
  'contact.none-lead': 'Enquanto não houver um destinatário, o formulário recusa os envios.',
  'contact.added':
    '{count, plural, one {# destinatário adicionado} other {# destinatários adicionados}}',
  'contact.removed': '{address} já não recebe o formulário de contacto',
  'suppressions.title': 'Endereços bloqueados',
  'suppressions.lead':
    'O site não envia nada para estes endereços, porque o correio foi devolvido.',
  'suppressions.reason': 'O que o servidor disse',
  'suppressions.again': 'Voltar a enviar',
  'suppressions.removed': 'O site volta a enviar para {address}',
  'suppressions.none': 'Nenhum endereço está bloqueado',
  'suppressions.none-lead': 'Um endereço aparece aqui quando um servidor diz que não existe.',
}
