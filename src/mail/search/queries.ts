import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { SearchTerm } from './parse-search.ts'

/** Postgres keeps at most 1 MiB of words a message. */
const MAX_CHARACTERS = 256 * 1024

export interface SearchableMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly receivedAt: Date
  /** Subject, people, names of attachments, text: whatever it is to be found by. */
  readonly text: string
}

export async function insertSearchWords(
  tx: SiteTx,
  messages: readonly SearchableMessage[],
): Promise<void> {
  const rows = messages.map(({ messageId, mailboxId, receivedAt, text }) => ({
    message_id: messageId,
    mailbox_id: mailboxId,
    received_at: receivedAt,
    text: text.slice(0, MAX_CHARACTERS).toWellFormed(),
  }))
  await sql`insert into mail_search (site_id, message_id, mailbox_id, received_at, words)
    select ${tx.siteId}, message_id, mailbox_id, received_at,
      array_to_tsvector(array[${tx.siteId}, mailbox_id]) || to_tsvector('simple', text)
    from json_to_recordset(${JSON.stringify(rows)}::text::json) message (
      message_id text, mailbox_id text, received_at timestamptz, text text)
    on conflict do nothing`.execute(tx.db)
}

export async function setSearch(
  tx: SiteTx,
  terms: readonly SearchTerm[],
  mailboxIds: readonly string[] | undefined,
): Promise<boolean> {
  const within = (mailboxIds ?? [tx.siteId]).map((id) => `'${id}'`).join(' | ')
  const query = terms.map(queryOf).reduce((all, each) => sql`${all} && ${each}`)
  const { rows } = await sql<{ nodes: number }>`
    select set_config('app.mail_query', (${within}::tsquery && asked.query)::text, true),
           numnode(asked.query) as nodes
    from (select ${query} as query) asked`.execute(tx.db)
  return (rows[0]?.nodes ?? 0) > 0
}

function queryOf({ kind, text, negated }: SearchTerm): RawBuilder<unknown> {
  const found = QUERIES[kind](text)
  return negated ? sql`(!! ${found})` : found
}

const QUERIES: Readonly<Record<SearchTerm['kind'], (text: string) => RawBuilder<unknown>>> = {
  word: (text) => sql`plainto_tsquery('simple', ${text})`,
  phrase: (text) => sql`phraseto_tsquery('simple', ${text})`,
  // Quoted, so that nothing in it is read as an operator.
  prefix: (text) =>
    sql`to_tsquery('simple', ${`'${text.replaceAll('\\', ' ').replaceAll("'", "''")}':*`})`,
}
