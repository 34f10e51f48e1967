import type { Tx } from '#platform/postgres/database.ts'

/** The durable queues of the service and what their jobs carry. A job is data; its handler loads what it needs. */
export interface QueueJobs {
  /** Compile what the site's control plane says now into a new revision. */
  'permission-sync': { readonly siteId: string }
  /** Remove the stored objects of a deleted site. */
  'site-cleanup': { readonly siteId: string }
  /** Hand one message to the gateway. */
  'outbound-mail': { readonly siteId: string; readonly messageId: string }
  /**
   * Answer somebody who asked with an address, by mail if at all: whether there is an account is found out here, where
   * nobody can measure it.
   */
  'account-mail': {
    readonly siteId: string
    readonly userPoolId: string
    readonly email: string
    readonly ask: 'sign-up' | 'resend' | 'reset'
    /** Of the sign-up that the code is for. */
    readonly registrationId?: string
  }
}

export type QueueName = keyof QueueJobs

/**
 * Work that survives a crash: enlisted in the caller's transaction, run at least once, by one worker at a time,
 * retried with backoff, and kept as a dead letter when it keeps failing. Handlers are idempotent.
 */
export interface Queue {
  /** One job per (queue, `singletonKey`) waits at a time; a second one joins it. The job starts right after the commit. */
  enqueue<Name extends QueueName>(
    tx: Tx,
    name: Name,
    job: QueueJobs[Name],
    options?: { readonly singletonKey?: string; readonly startAfterSeconds?: number },
  ): Promise<void>
  /** Registers the handler of a queue; call before `run`. */
  handle<Name extends QueueName>(
    name: Name,
    handler: (job: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options?: { readonly concurrency?: number },
  ): void
  /** Works until the signal, then finishes the jobs that are running. Resolves when the last one has ended. */
  run(signal: AbortSignal): Promise<void>
}
