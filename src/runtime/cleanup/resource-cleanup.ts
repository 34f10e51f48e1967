import type { Queue, QueueJobs } from '#platform/queue/queue.ts'

type Job = QueueJobs['resource-cleanup']

/** So that one full table or bucket does not hold up the others. */
const WORKERS = 2

/** Removes what one deleted resource held: in batches, and again without harm. */
export type DropContents = (
  siteId: string,
  resourceId: string,
  signal: AbortSignal,
) => Promise<void>

/** Puts the removal of what deleted tables and buckets held behind its queue. */
export const serveCleanup = (
  queue: Pick<Queue, 'handle'>,
  contents: Readonly<Record<Job['type'], DropContents>>,
): void =>
  queue.handle(
    'resource-cleanup',
    ({ siteId, type, resourceId }, signal) => contents[type](siteId, resourceId, signal),
    { concurrency: WORKERS },
  )
