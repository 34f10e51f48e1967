import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { doubledMs } from '#base/backoff.ts'
import { retry } from '#base/retry.ts'
import { installRoot } from '#config/install-root.ts'
import type { AppContext } from '#context'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type FirstRunResult, firstRun, willPass } from '#sites/first-run/first-run.ts'

const PAUSE_MS = 1000
const MAX_PAUSE_MS = 15_000
const FIRST_SYNC_MS = 20_000
const FIRST_SYNC_POLL_MS = 50

/**
 * Makes the first site, in a process that both runs the workers for it and answers for it. It starts again where it was broken
 * off: a service that answers does not end because a part is away or a disk is full.
 */
export async function makeFirstSite(
  context: AppContext,
  postgres: PostgresPlatform,
  signal: AbortSignal,
): Promise<FirstRunResult | undefined> {
  const { config, logger } = context
  if (!config.roles.includes('api') || !config.roles.includes('worker')) return undefined
  let said = ''
  const isRetryable = (error: unknown): boolean => {
    if (!willPass(error)) return false
    // Once for each cause: it may be the disk of the log that is full.
    if (said !== String(error)) logger.warn({ err: error }, 'the first site is not made yet')
    said = String(error)
    return !signal.aborted
  }
  try {
    // Each attempt makes what the one before has left again.
    const delayMs = (failed: number) => doubledMs(PAUSE_MS, failed - 1, MAX_PAUSE_MS)
    return await retry(() => attempt(context, postgres), { isRetryable, delayMs, signal })
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

function attempt(
  context: AppContext,
  { database }: PostgresPlatform,
): Promise<FirstRunResult | undefined> {
  return firstRun({
    ...context,
    database,
    baseUrl: context.config.baseUrl,
    exampleDir: join(installRoot(), 'examples/hello-site'),
    async waitForRuntime(siteId) {
      const deadline = Date.now() + FIRST_SYNC_MS
      while (Date.now() < deadline) {
        // A job asks for its revision as it ends: first the one, then the other.
        const idle = await context.iacJobs.isIdle(siteId)
        const { status } = await context.permissionSync.statusOf(siteId)
        if (idle && (status === 'succeeded' || status === 'failed')) return
        await delay(FIRST_SYNC_POLL_MS)
      }
    },
  })
}
