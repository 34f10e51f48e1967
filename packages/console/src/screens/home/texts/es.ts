import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  lead: 'Si todo va bien y qué ha ocurrido.',
  'lead-user': 'Su cuenta en este sitio.',
  'to-do.title': 'Lo que necesita a una persona',
  'to-do.none': 'Ahora mismo nada necesita su atención.',
  'to-do.invited':
    '{count, plural, one {# invitación aún no está aceptada} many {# invitaciones aún no están aceptadas} other {# invitaciones aún no están aceptadas}}',
  'to-do.jobs':
    '{count, plural, one {La última ejecución de # tarea falló} many {Las últimas ejecuciones de # tareas fallaron} other {Las últimas ejecuciones de # tareas fallaron}}',
  'to-do.suppressed':
    '{count, plural, one {# dirección rechaza el correo y ya no lo recibe} many {# direcciones rechazan el correo y ya no lo reciben} other {# direcciones rechazan el correo y ya no lo reciben}}',
  'to-do.definition': 'La última definición no se aplicó',
  period: 'Periodo',
  'period.24h': 'Últimas 24 horas',
  'period.30d': 'Últimos 30 días',
  calls: 'Llamadas',
  errors: 'Llamadas fallidas',
  cpu: 'Tiempo de CPU',
  chart: '{what}: {total}, {period}',
  stored: 'Almacenado',
  'stored.tables': 'Tablas',
  'stored.buckets': 'Buckets',
  'stored.mail': 'Correo',
  facts: 'Acerca de este sitio',
  'facts.domain': 'Dominio',
  'facts.account': 'Sesión iniciada como',
  'facts.version': 'Versión de Croft',
  'facts.runtime': 'Código del sitio',
  'facts.ready': 'Listo',
  'facts.not-ready': 'No está listo',
  'facts.revision': 'Revisión {number}',
  'facts.definition': 'Última definición',
}
