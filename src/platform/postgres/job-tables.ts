import type { Generated } from 'kysely'

/** Backend jobs, when they are due, and their runs. */
export interface JobTables {
  data_job: DataJobTable
  data_job_due: DataJobDueTable
  data_job_run: DataJobRunTable
}

interface DataJobTable {
  site_id: string
  job_id: string
  operation: string
  payload: unknown
  schedule: unknown
  scheduled_since: Date
  auth: unknown
  enabled: Generated<boolean>
  last_tick: Date | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

interface DataJobDueTable {
  site_id: string
  job_id: string
  due_at: Date
}

interface DataJobRunTable {
  site_id: string
  run_id: string
  job_id: string
  run_number: Generated<string>
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'timedOut' | 'skipped'
  trigger: string
  scheduled_for: Date | null
  missed: Generated<number>
  operation: string | null
  request_id: string
  attempts: Generated<number>
  result: string | null
  result_bytes: number | null
  error: unknown
  created_at: Generated<Date>
  started_at: Date | null
  finished_at: Date | null
}
