import type { SiteTx } from '#platform/postgres/database.ts'

import { lockJobs, selectJobsCalling } from './queries.ts'

/** Names of the jobs that call an operation; nobody else changes the site's jobs until the transaction ends. */
export async function jobsCalling(tx: SiteTx, operation: string): Promise<string[]> {
  await lockJobs(tx)
  return selectJobsCalling(tx, operation)
}
