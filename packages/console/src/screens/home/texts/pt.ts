import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Se está tudo bem e o que aconteceu.',
  'lead-user': 'A sua conta neste site.',
  'to-do.title': 'O que precisa de uma pessoa',
  'to-do.none': 'Neste momento, nada precisa da sua atenção.',
  'to-do.invited':
    '{count, plural, one {# convite ainda não foi aceite} many {# convites ainda não foram aceites} other {# convites ainda não foram aceites}}',
  'to-do.jobs':
    '{count, plural, one {A última execução de # tarefa falhou} many {As últimas execuções de # tarefas falharam} other {As últimas execuções de # tarefas falharam}}',
  'to-do.suppressed':
    '{count, plural, one {# endereço recusa email e já não o recebe} many {# endereços recusam email e já não o recebem} other {# endereços recusam email e já não o recebem}}',
  'to-do.definition': 'A última definição não foi aplicada',
  period: 'Período',
  'period.24h': 'Últimas 24 horas',
  'period.30d': 'Últimos 30 dias',
  calls: 'Chamadas',
  errors: 'Chamadas com erro',
  cpu: 'Tempo de CPU',
  chart: '{what}: {total}, {period}',
  stored: 'Armazenado',
  'stored.tables': 'Tabelas',
  'stored.buckets': 'Buckets',
  'stored.mail': 'Correio',
  facts: 'Sobre este site',
  'facts.domain': 'Domínio',
  'facts.account': 'Sessão iniciada como',
  'facts.version': 'Versão do Croft',
  'facts.runtime': 'Código do site',
  'facts.ready': 'Pronto',
  'facts.not-ready': 'Não está pronto',
  'facts.revision': 'Revisão {number}',
  'facts.definition': 'Última definição',
}
