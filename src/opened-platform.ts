import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Config } from '#config/config.ts'
import type { NewKeyPair } from '#identity/keys/key-pair.ts'
import type { OpenConsole } from '#platform/console/built-console.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Egress } from '#platform/egress/egress.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { ObjectUrls } from '#platform/objects/object-urls.ts'
import type { DatabaseTime } from '#platform/postgres/database-time.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Tracer } from '#platform/tracing/tracer.ts'

/** The outside systems, opened by the process's entry, or by a test. */
export interface Platform {
  readonly config: Config
  readonly operatorKey: string
  readonly logger: Logger
  readonly clock: Clock
  readonly databaseTime: DatabaseTime
  readonly ids: Ids
  /** Gives the key pair of a new pool; generated when left out. */
  newKeyPair?(): Promise<NewKeyPair>
  readonly postgres: PostgresPlatform
  readonly sealer: Sealer
  readonly sharedCache: SharedCache
  readonly counters: Counters
  readonly disk: WatchedDisks
  readonly egress: Egress
  readonly requestTraces: RequestTraces
  /** Undefined where no spans are recorded. */
  readonly tracer: Tracer | undefined
  readonly mailTransport: MailTransport
  readonly mailParser: MailParser
  /** Gives each message a process of its own. */
  readonly loneMailParser: MailParser
  readonly dns: DnsResolver
  /** `urls` are those that the service answers itself. */
  openObjects(urls: ObjectUrls): Promise<ObjectStore>
  /** Gives the files of the console; called when one is first asked for. */
  readonly openConsole: OpenConsole
  openSandbox(environment: SandboxEnvironment): Promise<Sandbox>
}
