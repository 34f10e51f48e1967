import type { Generated } from 'kysely'

export interface EnvVarTables {
  env_var: EnvVarTable
}

interface EnvVarTable {
  site_id: string
  name: string
  secret: boolean
  storage_backend: 'ssmSecureString' | 'ssmString'
  sealed: Buffer
  created_at: Generated<Date>
  updated_at: Date
}
