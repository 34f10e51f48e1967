import { withFallback } from '#base/with-timeout.ts'
import type { AppContext } from '#context'
import type { RequestTraffic } from '#http/request-traffic.ts'
import type { EventLoopLag } from '#platform/event-loop-lag.ts'
import type { QueueDepth } from '#platform/queue/queue-activity.ts'
import type { SandboxStatus } from '#platform/sandbox-host/sandbox.ts'

/** What is watched from outside of the services. */
export interface ProcessWatch {
  readonly traffic: RequestTraffic
  readonly eventLoop: EventLoopLag
  /** Of the program. */
  readonly version: string
}

/** All that the metrics read, at one moment. What does not answer in time is undefined, and is not exported. */
export interface Installation extends ProcessWatch {
  readonly context: AppContext
  readonly sandbox: SandboxStatus
  /** Every value other than `ok` says what is wrong. */
  readonly checks: Readonly<Record<string, string>>
  readonly queues: readonly QueueDepth[] | undefined
  /** In seconds of the epoch; 0 before the first. */
  readonly lastBackup: number | undefined
}

/** A scrape has ten seconds, of which the network takes some. */
const ANSWER_MS = 2000

export async function readInstallation(
  context: AppContext,
  watch: ProcessWatch,
): Promise<Installation> {
  const [checks, queues, lastBackup] = await Promise.all([
    context.checkReadiness(),
    withFallback(context.queue.depths(), ANSWER_MS, undefined),
    withFallback(lastBackupOf(context), ANSWER_MS, undefined),
  ])
  return { ...watch, context, checks, queues, lastBackup, sandbox: context.sandbox.status() }
}

async function lastBackupOf(context: AppContext): Promise<number> {
  const moment = await context.lastBackup()
  return moment === undefined ? 0 : moment.getTime() / 1000
}
