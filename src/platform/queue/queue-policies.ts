import type { QueueName } from './queue.ts'

export interface QueuePolicy {
  /** Runs after the first one, before the job becomes a dead letter. */
  readonly retries: number
  /** Doubled by every further retry, with jitter. */
  readonly firstRetrySeconds: number
  readonly lastRetrySeconds: number
  /** A run that takes longer is aborted and counts as failed. */
  readonly maxRunSeconds: number
}

/** What can be done again and again until the other side answers: it is given up after some hours. */
const CLEANUP = { retries: 20, firstRetrySeconds: 5, lastRetrySeconds: 3600, maxRunSeconds: 3600 }

/** Given up after about two days, as mail servers do. */
const OUTBOUND_MAIL = {
  retries: 24,
  firstRetrySeconds: 5,
  lastRetrySeconds: 10_800,
  maxRunSeconds: 120,
}

/** Longer than the longest function: its own limit ends it, and is reported. */
const JOB_RUN = { retries: 3, firstRetrySeconds: 1, lastRetrySeconds: 30, maxRunSeconds: 1200 }

const MAIL_PARSE = { retries: 12, firstRetrySeconds: 1, lastRetrySeconds: 300, maxRunSeconds: 3600 }

export const QUEUE_POLICIES: Readonly<Record<QueueName, QueuePolicy>> = {
  'permission-sync': {
    retries: 12,
    firstRetrySeconds: 1,
    lastRetrySeconds: 300,
    maxRunSeconds: 120,
  },
  'repository-fetch': {
    retries: 8,
    firstRetrySeconds: 5,
    lastRetrySeconds: 600,
    maxRunSeconds: 300,
  },
  'site-cleanup': CLEANUP,
  'deployment-rollback': {
    retries: 12,
    firstRetrySeconds: 1,
    lastRetrySeconds: 60,
    maxRunSeconds: 180,
  },
  'outbound-mail': OUTBOUND_MAIL,
  'site-mail': OUTBOUND_MAIL,
  'mail-delivery': OUTBOUND_MAIL,
  'job-run': JOB_RUN,
  'job-tick': JOB_RUN,
  'iac-job': { retries: 12, firstRetrySeconds: 1, lastRetrySeconds: 300, maxRunSeconds: 3600 },
  'resource-cleanup': CLEANUP,
  'bucket-upkeep': CLEANUP,
  'table-build': { retries: 12, firstRetrySeconds: 1, lastRetrySeconds: 300, maxRunSeconds: 3600 },
  'table-recount': {
    retries: 12,
    firstRetrySeconds: 5,
    lastRetrySeconds: 300,
    maxRunSeconds: 3600,
  },
  'mail-parse': MAIL_PARSE,
  'large-mail-parse': MAIL_PARSE,
  'mail-reparse': MAIL_PARSE,
  'mail-removal': CLEANUP,
  'delivery-notice': {
    retries: 20,
    firstRetrySeconds: 5,
    lastRetrySeconds: 3600,
    maxRunSeconds: 60,
  },
  'account-deletion': CLEANUP,
  'account-mail': { retries: 12, firstRetrySeconds: 1, lastRetrySeconds: 300, maxRunSeconds: 60 },
}

/** The queue that takes the jobs which failed at their last retry. */
export const deadLetterQueue = (name: QueueName): string => `${name}.dead`
