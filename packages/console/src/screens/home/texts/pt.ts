import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'Início',
  lead: 'O que aconteceu em {domain} nas últimas 24 horas.',
  calls: 'Chamadas',
  errors: 'Chamadas com erro',
  cpu: 'Tempo de CPU',
  storage: 'Armazenado',
}
