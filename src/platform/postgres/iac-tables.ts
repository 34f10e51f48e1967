import type { Generated } from 'kysely'

/** Infrastructure as code: kept definitions, and the jobs that carry definitions out. */
export interface IacTables {
  iac_definition: IacDefinitionTable
  iac_job: IacJobTable
  iac_change: IacChangeTable
}

interface IacDefinitionTable {
  site_id: string
  profile_name: string
  definition: unknown
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

interface IacJobTable {
  site_id: string
  job_number: Generated<string>
  job_id: string
  mode: 'plan' | 'apply' | 'replace'
  source: 'inline' | 'profile' | 'deployment'
  profile_name: string | null
  deployment_id: string | null
  persisted: boolean
  agreed: Generated<string[]>
  requested_by: string
  sealed: Buffer | null
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  attempts: Generated<number>
  error: string | null
  created_at: Generated<Date>
  started_at: Date | null
  finished_at: Date | null
}

interface IacChangeTable {
  site_id: string
  job_number: string
  position: number
  section: 'envVars' | 'groups' | 'resources' | 'operations' | 'jobs'
  name: string
  action: 'create' | 'update' | 'delete' | 'none'
  fields: string[]
  status: 'pending' | 'planned' | 'unchanged' | 'succeeded' | 'failed' | 'skipped'
  error: string | null
}
