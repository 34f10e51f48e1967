import { createHash } from 'node:crypto'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { MailboxMessage } from './queries.ts'
import { insertReferences, mergeConversations, selectConversations } from './thread-queries.ts'

/** Of the references the last ones: the nearest. */
const MAX_REFERENCES = 20
const HASH_BYTES = 16
/** A longer conversation is not moved into another: nobody can have a million messages rewritten by one that names them. */
const MAX_MOVED = 1000

/** What a conversation is found by. */
export type Referring = Pick<
  MailboxMessage,
  'mailboxId' | 'threadId' | 'headerId' | 'inReplyTo' | 'referenceIds'
>

/**
 * Finds the conversation that a message belongs to, by the ids that it and others name and never by its subject; those that
 * it joins become one, the oldest. Doing it twice is fine. The conversations of the mailbox are locked.
 */
export async function joinConversation(tx: SiteTx, message: Referring): Promise<string> {
  const { mailboxId } = message
  const hashes = referencesOf(message).map(hashOf)
  if (hashes.length === 0) return message.threadId
  const known = await selectConversations(tx, mailboxId, hashes, MAX_MOVED)
  const into = known[0]?.threadId ?? message.threadId
  const from = known.slice(1).flatMap(({ threadId, size }) => (size > MAX_MOVED ? [] : [threadId]))
  if (from.length > 0) await mergeConversations(tx, mailboxId, { from, into })
  await insertReferences(tx, mailboxId, into, hashes)
  return into
}

function referencesOf({
  headerId,
  inReplyTo,
  referenceIds,
}: Pick<Referring, 'headerId' | 'inReplyTo' | 'referenceIds'>): string[] {
  const named = [headerId, inReplyTo, ...referenceIds.slice(-MAX_REFERENCES)]
  return [...new Set(named.filter((id) => id !== null && id !== ''))].flatMap((id) => id ?? [])
}

const hashOf = (id: string): Uint8Array =>
  createHash('sha256').update(id).digest().subarray(0, HASH_BYTES)
