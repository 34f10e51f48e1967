import { MailboxStreams } from '#mail/changes/streams.ts'
import type { PlatformServices } from '#platform/services.ts'

import { MessageChanges } from './message-changes.ts'
import { Messages } from './service.ts'

export interface MessageServices {
  readonly messages: Messages
  readonly messageChanges: MessageChanges
  readonly mailboxStreams: MailboxStreams
}

/** Listens for changes that other replicas make. */
export async function openMessages(deps: PlatformServices): Promise<MessageServices> {
  const mailboxStreams = new MailboxStreams()
  await mailboxStreams.listen(deps.notifications)
  return {
    messages: new Messages(deps),
    messageChanges: new MessageChanges(deps),
    mailboxStreams,
  }
}
