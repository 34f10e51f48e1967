import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Egress } from '#platform/egress/egress.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'

import { OperationCalls } from './calls/operation-calls.ts'
import { PublishedCaches } from './calls/published-caches.ts'
import { ResponseCache } from './calls/response-cache.ts'
import { Compute } from './compute/service.ts'
import { Definitions } from './definitions/service.ts'
import { HostCalls } from './host-calls/service.ts'
import { RuntimeLogs } from './logs/service.ts'
import { Operations } from './operations/service.ts'
import { PermissionSync, type SyncSources } from './permission-sync/service.ts'
import { Published } from './published/service.ts'
import { Resources } from './resources/service.ts'
import { siteLimits } from './revisions/limits.ts'
import { Revisions } from './revisions/service.ts'
import { RuntimeParts } from './runtime-parts.ts'
import { RuntimeUsage } from './usage/service.ts'

export interface RuntimeDeps {
  readonly database: Database
  readonly notifications: Notifications
  readonly queue: Queue
  readonly sharedCache: SharedCache
  readonly egress: Egress
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** Asked after the runtime stands, so it may close over what is built later. */
  readonly sources: SyncSources
  readonly openSandbox: (environment: SandboxEnvironment) => Promise<Sandbox>
}

/** The data runtime of all sites. Disposing it writes its last counts and lines; the sandbox goes down first. */
export interface Runtime extends AsyncDisposable {
  readonly parts: RuntimeParts
  readonly resources: Resources
  readonly operations: Operations
  readonly operationCalls: OperationCalls
  readonly compute: Compute
  readonly definitions: Definitions
  readonly permissionSync: PermissionSync
  readonly runtimeLogs: RuntimeLogs
  readonly runtimeUsage: RuntimeUsage
  readonly sandbox: Sandbox
}

/** Builds the runtime, starts its sandbox, listens, and puts the permission sync behind its queue. */
export async function openRuntime(deps: RuntimeDeps): Promise<Runtime> {
  const now = () => deps.clock.now().getTime()
  const settingsOf = (siteId: string) => deps.sources.settings(siteId)
  const runtimeLogs = new RuntimeLogs(deps)
  const runtimeUsage = new RuntimeUsage({
    ...deps,
    standingOf: async (siteId) => ({
      limits: siteLimits((await settingsOf(siteId)).limits),
      loadedRevision: published.peek(siteId)?.revision ?? null,
      sandboxReady: sandbox.status().ready,
    }),
  })
  const revisions = new Revisions(deps)
  // The sandbox asks for host calls and the published site retires isolates: neither happens before both stand.
  const published = new Published({
    ...deps,
    revisions,
    retire: (programKey) => sandbox.retire(programKey),
  })
  const hostCalls = new HostCalls({ published, egress: deps.egress, settingsOf })
  const sandbox = await deps.openSandbox({
    hostCall: (call) => hostCalls.answer(call),
    log: (lines) => runtimeLogs.console(lines),
  })
  const cache = new ResponseCache({ shared: deps.sharedCache, now })
  const caches = new PublishedCaches({ published, cache })
  const control = { ...deps, revisions, published, sandbox, caches }
  const resources = new Resources(control)
  const operations = new Operations({ ...control, resources })
  const definitions = new Definitions({ ...control, resources, operations })
  const permissionSync = new PermissionSync({ ...control, resources, operations })
  permissionSync.serve(deps.queue)
  await published.listen(deps.notifications)
  await runtimeLogs.listen(deps.notifications)
  return {
    parts: new RuntimeParts({ ...deps, revisions, definitions }),
    resources,
    operations,
    operationCalls: new OperationCalls({
      published,
      cache,
      sandbox,
      now,
      runtimeLogs,
      runtimeUsage,
    }),
    compute: new Compute({ sandbox, usage: runtimeUsage, settingsOf }),
    definitions,
    permissionSync,
    runtimeLogs,
    runtimeUsage,
    sandbox,
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
      await runtimeUsage[Symbol.asyncDispose]()
      await runtimeLogs[Symbol.asyncDispose]()
    },
  }
}
