import type { Actor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { noteMailboxChange } from '#mail/changes/note.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import { type ReadableMessage, lockReadableMessage } from './access-queries.ts'
import {
  updateArchived,
  updateDeleted,
  updateRestored,
  updateSeen,
  updateTrashed,
} from './change-queries.ts'
import type { Folder } from './model.ts'

/** What those who may read a message may do to it. Each may be done twice. 404 `MessageNotFound` to anyone else. */
export class MessageChanges {
  readonly #deps

  constructor(deps: Pick<PlatformServices, 'database' | 'notifications' | 'clock'>) {
    this.#deps = deps
  }

  async setSeen(site: Site, reader: Actor, messageId: string, seen: boolean): Promise<void> {
    await this.#changing(site, reader, messageId, (tx) => updateSeen(tx, messageId, seen))
  }

  /** From any folder, also out of the trash. */
  async archive(site: Site, reader: Actor, messageId: string): Promise<void> {
    await this.#changing(site, reader, messageId, (tx) => updateArchived(tx, messageId))
  }

  /** To the trash; from there it is deleted, and shown no more unless asked for. */
  async delete(site: Site, reader: Actor, messageId: string): Promise<void> {
    await this.#changing(site, reader, messageId, (tx, { folder }) =>
      folder === 'TRASH'
        ? updateDeleted(tx, messageId)
        : updateTrashed(tx, messageId, this.#deps.clock.now()),
    )
  }

  /** Out of the trash, to where it was. Returns the folder; one that is not in the trash stays where it is. */
  restore(site: Site, reader: Actor, messageId: string): Promise<Folder> {
    return this.#changing(site, reader, messageId, async (tx, { folder }) =>
      folder === 'TRASH' ? updateRestored(tx, messageId) : folder,
    )
  }

  #changing<Result>(
    site: Site,
    reader: Actor,
    messageId: string,
    change: (tx: SiteTx, message: ReadableMessage) => Promise<Result>,
  ): Promise<Result> {
    const { database, notifications } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const message = await lockReadableMessage(tx, reader, messageId)
      if (!message) throw notFound('Message', messageId)
      const result = await change(tx, message)
      await noteMailboxChange(notifications, tx, message.mailboxId)
      return result
    })
  }
}
