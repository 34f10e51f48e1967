import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Inicio',
  lead: 'Lo ocurrido en {domain} en las últimas 24 horas.',
  calls: 'Llamadas',
  errors: 'Llamadas fallidas',
  cpu: 'Tiempo de CPU',
  storage: 'Almacenado',
}
