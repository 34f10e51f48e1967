import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { PageTokens } from '#base/page.ts'
import type { Config } from '#config/config.ts'
import type { SigningKeys } from '#identity/keys/service.ts'
import type { Pools } from '#identity/pools/service.ts'
import type { AdminTokens } from '#identity/tokens/admin-tokens.ts'
import type { TokenMint } from '#identity/tokens/token-mint.ts'
import type { VisitorTokens } from '#identity/tokens/visitor-tokens.ts'
import type { Users } from '#identity/users/service.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { OperationCalls } from '#runtime/calls/operation-calls.ts'
import type { Compute } from '#runtime/compute/service.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { RuntimeLogs } from '#runtime/logs/service.ts'
import type { Operations } from '#runtime/operations/service.ts'
import type { PermissionSync } from '#runtime/permission-sync/service.ts'
import type { Resources } from '#runtime/resources/service.ts'
import type { RuntimeUsage } from '#runtime/usage/service.ts'
import type { Deployments } from '#sites/deployments/service.ts'
import type { Sites } from '#sites/service.ts'

/** Everything that lives as long as the process, as the routes see it. Built once, taken apart in reverse. */
export interface AppContext {
  readonly config: Config
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly pageTokens: PageTokens
  readonly operatorKey: string
  readonly readiness: Readiness
  readonly objects: ObjectStore

  readonly sites: Sites
  readonly deployments: Deployments

  readonly pools: Pools
  readonly signingKeys: SigningKeys
  readonly users: Users
  readonly tokenMint: TokenMint
  readonly adminTokens: AdminTokens
  readonly visitorTokens: VisitorTokens

  readonly resources: Resources
  readonly operations: Operations
  readonly operationCalls: OperationCalls
  readonly compute: Compute
  readonly definitions: Definitions
  readonly permissionSync: PermissionSync
  readonly runtimeLogs: RuntimeLogs
  readonly runtimeUsage: RuntimeUsage
}

/** What `/readyz` asks. Every value other than `ok` says what is wrong. */
export interface Readiness {
  check(): Promise<Readonly<Record<string, string>>>
}
