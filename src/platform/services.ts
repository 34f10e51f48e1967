import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { PageTokens } from '#base/page.ts'

import type { DiskRoom } from './disk/disk-room.ts'
import type { Logger } from './log/logger.ts'
import type { ObjectStore } from './objects/object-store.ts'
import type { ObjectUrls } from './objects/object-urls.ts'
import type { DatabaseTime } from './postgres/database-time.ts'
import type { Database } from './postgres/database.ts'
import type { Notifications } from './postgres/notifications.ts'
import type { Queue } from './queue/queue.ts'

/** What the features above are built on. Each names what it takes of it: `Pick<PlatformServices, 'database' | 'clock'>`. */
export interface PlatformServices {
  readonly database: Database
  readonly notifications: Notifications
  readonly queue: Queue
  readonly objects: ObjectStore
  readonly disk: DiskRoom
  readonly objectUrls: Pick<ObjectUrls, 'sign'>
  readonly pageTokens: PageTokens
  /** For what this process does. */
  readonly clock: Clock
  /** For what replicas do together. */
  readonly databaseTime: DatabaseTime
  readonly ids: Ids
  readonly logger: Logger
}
