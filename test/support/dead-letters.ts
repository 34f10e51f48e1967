import type { SqlClient } from '#platform/postgres/client.ts'
import { deadLetterQueue } from '#platform/queue/queue-policies.ts'
import type { QueueJobs, QueueName } from '#platform/queue/queue.ts'

interface DeadLetter<Name extends QueueName> {
  readonly job: QueueJobs[Name]
  readonly failedAt: Date
  /** What the last run threw. */
  readonly reason: string
}

/** The jobs that failed to the end, newest first. */
export const deadLetters = <Name extends QueueName>(
  sql: SqlClient,
  name: Name,
): Promise<DeadLetter<Name>[]> =>
  sql<DeadLetter<Name>[]>`
    select data as job, created_on as "failedAt",
           coalesce(source_output ->> 'message', source_output ->> 'value', '') as reason
    from pgboss.job where name = ${deadLetterQueue(name)}
    order by created_on desc`
