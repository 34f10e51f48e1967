import type { Tx } from '#platform/postgres/database.ts'

/** The durable queues of the service and what their jobs carry. A job is data; its handler loads what it needs. */
export interface QueueJobs {
  /** Compile what the site's control plane says now into a new revision. */
  'permission-sync': { readonly siteId: string }
  /** Deploy what the branch of a site's external repository holds now. */
  'repository-fetch': { readonly siteId: string }
  /** Remove the stored objects of a deleted site. */
  'site-cleanup': { readonly siteId: string }
  /** Roll back a deployment whose calls fail too often. */
  'deployment-rollback': { readonly siteId: string; readonly activationNumber: number }
  /** Hand one message of the service to the gateway: an invite, a code. */
  'outbound-mail': { readonly siteId: string; readonly messageId: string }
  /** Hand one message that a site's own code or its contact form sends to the gateway. */
  'site-mail': { readonly siteId: string; readonly messageId: string }
  /** Hand a message that a mailbox sent to the gateway, for one of its recipients. */
  'mail-delivery': {
    readonly siteId: string
    readonly messageId: string
    readonly recipient: string
  }
  /** Notify the sender of a message of the recipients that it did not reach, or not yet. */
  'delivery-notice': { readonly siteId: string; readonly messageId: string }
  /**
   * Answer a request with an address, by mail if at all: whether there is an account is found out here, where the client cannot
   * measure it.
   */
  'account-mail': {
    readonly siteId: string
    readonly userPoolId: string
    readonly email: string
    readonly ask: 'sign-up' | 'resend' | 'reset'
    /** The sign-up that the code is for. */
    readonly registrationId?: string
    /** Whose code it is to be: a browser's, or a network's. */
    readonly requester?: string
    /** Of one request: a job that runs again finds that its code is made. */
    readonly requestId?: string
    /** Of the page on which they asked. */
    readonly language?: string | undefined
  }
  /** Remove the accounts of a site whose owners deleted them a week ago. */
  'account-deletion': { readonly siteId: string }
  /** Carry out a run of a backend job that was started by hand. */
  'job-run': { readonly siteId: string; readonly runId: string }
  /** Carry out a run of a backend job that its schedule started. */
  'job-tick': { readonly siteId: string; readonly runId: string }
  /** Carry out the infrastructure jobs of a site that wait, one after the other. */
  'iac-job': { readonly siteId: string }
  /** Remove what a deleted table or bucket held. */
  'resource-cleanup': {
    readonly siteId: string
    readonly type: 'ddbTable' | 's3Bucket'
    readonly resourceId: string
  }
  /** Settle what was promised to uploads of a site's buckets, and count again what they hold. */
  'bucket-upkeep': { readonly siteId: string }
  /** Count what the tables of a site hold. */
  'table-recount': { readonly siteId: string }
  /** Bring the index entries and expiries of a table in line with its definition. */
  'table-build': { readonly siteId: string; readonly resourceId: string }
  /** Parse the messages of a site that were accepted and not parsed yet. */
  'mail-parse': { readonly siteId: string }
  /** Parse one of those that are parsed alone. */
  'large-mail-parse': { readonly siteId: string }
  /** Parse and index messages of a site again that an earlier version did. */
  'mail-reparse': { readonly siteId: string }
  /**
   * Remove what is not visible any more: messages of mailboxes that are gone, and objects of messages that are. As upkeep also
   * what is in the trash too long, and objects that never got a message.
   */
  'mail-removal': { readonly siteId: string; readonly upkeep?: boolean }
}

export type QueueName = keyof QueueJobs

export interface EnqueueOptions {
  readonly singletonKey?: string
  readonly startAfterSeconds?: number
  readonly group?: string
}

export interface HandleOptions<Job> {
  /** Jobs of this queue that run at once in this process; 1 when left out. */
  readonly concurrency?: number
  /** How many jobs of one site run at once in all processes. */
  readonly perSite?: number
  /** How many jobs of one group, of whatever sites, run at once in all processes. The groups of a site take turns. */
  readonly perGroup?: number
  /** Jobs that run beside those in this process, each of a site that has none running anywhere. */
  readonly oneEach?: number
  /** Places of their own for jobs that failed before: they hold up no first attempt, and none holds them up. */
  readonly retryPlaces?: number
  /**
   * A job that runs longer than so many milliseconds leaves its place to others, as long as one of these is free, and jobs of its
   * group begin in these only. A group of which no job was quick in the last ten minutes runs one at a time in this process.
   */
  readonly slow?: { readonly afterMs: number; readonly places: number }
  /** Called once a job has failed to the end, also when the workers that held it died. */
  readonly givenUp?: (job: Job) => Promise<void>
}

/**
 * Work that survives a crash: enlisted in the caller's transaction, run at least once, by one worker at a time,
 * retried with backoff, and kept as a dead letter when it keeps failing. Handlers are idempotent. Of each queue the sites that
 * have jobs take turns: one that queues a thousand delays another's by one job a place, not by a thousand.
 */
export interface Queue {
  /**
   * One job per (queue, `singletonKey`) waits at a time; a second one joins it. The job starts right after the commit,
   * unless as many of its `group` run as `handle` allows, or as many of the queue.
   */
  enqueue<Name extends QueueName>(
    tx: Tx,
    name: Name,
    job: QueueJobs[Name],
    options?: EnqueueOptions,
  ): Promise<void>
  /** As `enqueue` of each, in one statement. */
  enqueueAll<Name extends QueueName>(
    tx: Tx,
    name: Name,
    jobs: readonly { readonly job: QueueJobs[Name]; readonly group?: string }[],
  ): Promise<void>
  /** Whether a job with another `singletonKey` waits in the queue, of a site that has none running. */
  hasOthers(name: QueueName, singletonKey: string): Promise<boolean>
  /** Registers the handler of a queue; call before `run`. */
  handle<Name extends QueueName>(
    name: Name,
    handler: (job: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options?: HandleOptions<QueueJobs[Name]>,
  ): void
  /**
   * Works until `stop`, then starts no other job and finishes those that run. At `handBack` it ends those, too: another process
   * has them at once, with as many retries left. Resolves when the last one has ended.
   */
  run(stop: AbortSignal, handBack?: AbortSignal): Promise<void>
}

/** What a handler throws for what it will try again and knows the reason of: logged without a stack. */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure'
}
