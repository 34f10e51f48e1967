import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  title: 'ホーム',
  lead: '{domain} の直近 24 時間の状況です。',
  calls: '呼び出し',
  errors: '失敗した呼び出し',
  cpu: 'CPU 時間',
  storage: '保存量',
}
