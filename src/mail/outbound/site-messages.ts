import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { WaitingMessage } from './model.ts'
import type { OutboundMessages } from './outbound-messages.ts'

/** What a site's own code sends: the same message to each recipient by itself. */
interface NewSiteMessage extends Pick<WaitingMessage, 'subject' | 'text' | 'html' | 'replyTo'> {
  readonly to: readonly string[]
}

/** The messages that sites send of their own. */
export class SiteMessages {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database'> & {
      readonly outboundMessages: Pick<OutboundMessages, 'accept'>
      /** Rejects with `SiteNotFound` when the site is gone. */
      readonly siteOf: (siteId: string) => Promise<Site>
    },
  ) {
    this.#deps = deps
  }

  /** Queues all of them in one transaction, and returns their ids in the order of the recipients. */
  async send(siteId: string, { to, ...message }: NewSiteMessage): Promise<readonly string[]> {
    const { database, outboundMessages, siteOf } = this.#deps
    const site = await siteOf(siteId)
    return database.withSite(siteId, async (tx) => {
      const messageIds: string[] = []
      for (const recipient of to) {
        const single = { kind: 'site', to: recipient, ...message }
        messageIds.push(await outboundMessages.accept(tx, site, single))
      }
      return messageIds
    })
  }
}
