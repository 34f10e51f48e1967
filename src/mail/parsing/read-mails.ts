import { indexMessages } from '#mail/search/index-messages.ts'
import type { SearchableText } from '#mail/search/message-vector.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { hasFiles, type MailContent } from './model.ts'
import { removeOrphans } from './orphaned-objects.ts'
import { finishRaws, type MailboxMessage, type ReadMail, showMessages } from './queries.ts'
import { searchTextOf } from './search-text.ts'
import { joinConversations } from './threads.ts'

export interface ReadMailsDeps extends Pick<PlatformServices, 'database' | 'queue'> {
  /** What a message to these mailboxes says of one that they may have sent. */
  readonly noteBounce: (
    tx: SiteTx,
    mailboxIds: readonly string[],
    bounce: NonNullable<MailContent['bounce']>,
  ) => Promise<void>
}

/** Writes what was read of messages, for all their mailboxes. */
export class ReadMails {
  readonly #deps: ReadMailsDeps

  constructor(deps: ReadMailsDeps) {
    this.#deps = deps
  }

  /** All of them, or none. What another worker has finished stays unchanged. */
  async finish(siteId: string, read: readonly ReadMail[]): Promise<void> {
    await this.#deps.database.withSite(siteId, async (tx) => {
      const messages = await finishRaws(tx, read)
      // What was removed while it was parsed may have lost its objects before these parts were written.
      await removeOrphans(tx, this.#deps, missingOf(read, messages))
      if (messages.length === 0) return
      await this.#noteBounces(tx, read, messages)
      const threads = await joinConversations(tx, messages)
      const contents = new Map(read.map(({ rawId, content }) => [rawId, content]))
      const words = new SearchTexts()
      const shown = messages.flatMap((message) => {
        const content = contents.get(message.rawId)
        if (!content) return []
        return { ...shownMessage(message, content, threads), words: words.of(message, content) }
      })
      await showMessages(tx, shown)
      await indexMessages(tx, shown)
    })
  }

  async #noteBounces(
    tx: SiteTx,
    read: readonly ReadMail[],
    messages: readonly MailboxMessage[],
  ): Promise<void> {
    for (const { rawId, content } of read) {
      if (content.bounce === null) continue
      const received = messages.filter((message) => message.rawId === rawId)
      const mailboxIds = received.map(({ mailboxId }) => mailboxId)
      if (mailboxIds.length > 0) await this.#deps.noteBounce(tx, mailboxIds, content.bounce)
    }
  }
}

function missingOf(read: readonly ReadMail[], messages: readonly MailboxMessage[]): string[] {
  const shown = new Set(messages.map(({ rawId }) => rawId))
  return read.map(({ rawId }) => rawId).filter((rawId) => !shown.has(rawId))
}

function shownMessage(
  message: MailboxMessage,
  content: MailContent,
  threads: ReadonlyMap<string, string>,
) {
  const { messageId, mailboxId, receivedAt } = message
  return {
    messageId,
    mailboxId,
    receivedAt,
    threadId: threads.get(messageId) ?? message.threadId,
    snippet: content.snippet,
    hasAttachments: hasFiles(content),
  }
}

/** One for all mailboxes that have the message: it is indexed once. */
class SearchTexts {
  readonly #made = new Map<string, SearchableText>()

  of(message: MailboxMessage, content: MailContent): SearchableText {
    const { rawId, subject, fromAddress, recipients } = message
    const key = JSON.stringify([rawId, subject, fromAddress, recipients])
    const made = this.#made.get(key) ?? searchTextOf(message, content)
    this.#made.set(key, made)
    return made
  }
}
