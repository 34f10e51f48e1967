import { createHash } from 'node:crypto'

import type { SiteTx } from '#platform/postgres/database.ts'

import { Conversations } from './conversations.ts'
import type { MailboxMessage } from './queries.ts'
import { insertReferences, mergeConversations, selectConversations } from './thread-queries.ts'

/** Of the references the last ones: the nearest. */
const MAX_REFERENCES = 20
const HASH_BYTES = 16

/** What a conversation is found by. */
export type Referring = Pick<
  MailboxMessage,
  'messageId' | 'mailboxId' | 'threadId' | 'receivedAt' | 'headerId' | 'inReplyTo' | 'referenceIds'
>

/**
 * Finds the conversations that messages belong to, in their order, by the ids that they and others name and never by their
 * subject; those that one joins become one, the oldest. Doing it twice is fine. The conversations of the mailboxes are locked.
 */
export async function joinConversations(
  tx: SiteTx,
  messages: readonly Referring[],
): Promise<ReadonlyMap<string, string>> {
  const joining = messages.map((message) => ({ ...message, references: referencesOf(message) }))
  const mailboxes = await conversationsOf(tx, joining)
  for (const message of joining) mailboxes.get(message.mailboxId)?.join(message)
  await keep(tx, mailboxes)
  return new Map(
    messages.map(({ messageId, mailboxId, threadId }) => [
      messageId,
      mailboxes.get(mailboxId)?.of(messageId) ?? threadId,
    ]),
  )
}

type Joining = Referring & { readonly references: readonly string[] }
type OfMailboxes = ReadonlyMap<string, Conversations>

async function conversationsOf(tx: SiteTx, joining: readonly Joining[]): Promise<OfMailboxes> {
  const mailboxes = new Map(joining.map(({ mailboxId }) => [mailboxId, new Conversations()]))
  const asked = joining.flatMap(({ mailboxId, references }) =>
    references.map((reference) => ({ mailboxId, hash: Buffer.from(reference, 'hex') })),
  )
  if (asked.length === 0) return mailboxes
  for (const { mailboxId, hash, ...conversation } of await selectConversations(tx, asked)) {
    mailboxes.get(mailboxId)?.note(hash.toString('hex'), conversation)
  }
  return mailboxes
}

async function keep(tx: SiteTx, mailboxes: OfMailboxes): Promise<void> {
  const added = []
  for (const [mailboxId, conversations] of mailboxes) {
    const merged = Map.groupBy(conversations.merged, ([, into]) => into)
    for (const [into, from] of merged) {
      await mergeConversations(tx, mailboxId, { from: from.map(([threadId]) => threadId), into })
    }
    for (const [reference, threadId] of conversations.added) {
      added.push({ mailboxId, hash: Buffer.from(reference, 'hex'), threadId })
    }
  }
  if (added.length > 0) await insertReferences(tx, added)
}

function referencesOf({
  headerId,
  inReplyTo,
  referenceIds,
}: Pick<Referring, 'headerId' | 'inReplyTo' | 'referenceIds'>): string[] {
  const named = [headerId, inReplyTo, ...referenceIds.slice(-MAX_REFERENCES)]
  return [...new Set(named.filter((id) => id !== null && id !== ''))].flatMap((id) =>
    id === null ? [] : hashOf(id),
  )
}

const hashOf = (id: string): string =>
  createHash('sha256').update(id).digest().subarray(0, HASH_BYTES).toString('hex')
