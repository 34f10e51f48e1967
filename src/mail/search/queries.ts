import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import {
  FIELDS,
  HAS_ATTACHMENT,
  IS_LATE,
  IS_MANY,
  MessageVectors,
  type SearchableText,
} from './message-vector.ts'
import type { SearchTerm } from './parse-search.ts'
import { type SearchedWord, type SearchText, searchedRuns, searchedWords } from './search-words.ts'

/** Of what one statement brings. */
const MAX_CHARACTERS = 2 * 1024 * 1024

export interface SearchableMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly receivedAt: Date
  /** The same object for messages with the same words: it is gone through once. */
  readonly words: SearchableText
}

export async function insertSearchWords(
  tx: SiteTx,
  messages: readonly SearchableMessage[],
): Promise<void> {
  const vectors = new MessageVectors()
  let rows: SearchRow[] = []
  let characters = 0
  for (const [words, copies] of Map.groupBy(messages, (message) => message.words)) {
    const vector = await vectors.vectorOf(words)
    for (const { messageId, mailboxId, receivedAt } of copies) {
      rows.push({
        message_id: messageId,
        mailbox_id: mailboxId,
        received_at: receivedAt,
        words: vector,
      })
      characters += vector.length
      if (characters < MAX_CHARACTERS) continue
      await insertRows(tx, rows)
      rows = []
      characters = 0
    }
  }
  if (rows.length > 0) await insertRows(tx, rows)
}

interface SearchRow {
  readonly message_id: string
  readonly mailbox_id: string
  readonly received_at: Date
  readonly words: string
}

async function insertRows(tx: SiteTx, rows: readonly SearchRow[]): Promise<void> {
  await sql`insert into mail_search (site_id, message_id, mailbox_id, received_at, words)
    select ${tx.siteId}, message_id, mailbox_id, received_at,
      array_to_tsvector(array[${tx.siteId}, mailbox_id]) || words::tsvector
    from json_to_recordset(${JSON.stringify(rows)}::text::json) message (
      message_id text, mailbox_id text, received_at timestamptz, words text)
    on conflict do nothing`.execute(tx.db)
}

/** The policy shows the words that a query finds: the id of the site is among those of each message. */
export async function deleteSearchWords(tx: SiteTx, messageIds: readonly string[]): Promise<void> {
  await sql`select set_config('app.mail_query', quote_literal(${tx.siteId}::text), true)`.execute(
    tx.db,
  )
  await sql`delete from mail_search
    where site_id = ${tx.siteId} and message_id = any(${messageIds}::text[])`.execute(tx.db)
}

export async function setSearch(
  tx: SiteTx,
  terms: readonly SearchTerm[],
  mailboxIds: readonly string[] | undefined,
): Promise<void> {
  const within = (mailboxIds ?? [tx.siteId]).map((id) => `'${id}'`).join(' | ')
  const query = terms.map(queryOf).reduce((all, each) => sql`${all} && ${each}`)
  await sql`select set_config('app.mail_query', (${within}::tsquery && ${query})::text, true)`.execute(
    tx.db,
  )
}

function queryOf(term: SearchTerm): RawBuilder<unknown> {
  const found = foundQuery(term)
  return term.negated ? sql`(!! ${found})` : found
}

function foundQuery(term: SearchTerm): RawBuilder<unknown> {
  if (term.kind === 'attachment') return sql`${quoted(HAS_ATTACHMENT)}::tsquery`
  const query = sql`${textQuery(term)}::tsquery`
  const earlier = earlierQuery(term)
  return earlier ? sql`(${query} || ${earlier})` : query
}

/**
 * A phrase is also found by its words alone where positions of it are not kept: those of one word that is too often in the message,
 * or, because positions only grow, at least those of the last word.
 */
function textQuery(term: SearchText): string {
  const prefix = term.field === undefined ? '' : FIELDS[term.field]
  const words = searchedWords(searchedRuns(term))
  const each = words.map((word) => wordQuery(prefix, word))
  if (each.length === 1) return each.join('')
  const phrase = each.reduce((before, query, index) => {
    const distance = (words[index]?.position ?? 0) - (words[index - 1]?.position ?? 0)
    return `${before} <${distance}> ${query}`
  })
  const lost = [
    ...words.map((word) => wordQuery(IS_MANY + prefix, word)),
    ...words.slice(-1).map((word) => wordQuery(IS_LATE + prefix, word)),
  ]
  return `(${phrase}) | ((${lost.join(' | ')}) & ${each.join(' & ')})`
}

const wordQuery = (prefix: string, { words, isPrefix }: SearchedWord): string =>
  `(${words.map((word) => quoted(prefix + word) + (isPrefix ? ':*' : '')).join(' | ')})`

/** Words have letters, digits and marks only. */
const quoted = (word: string): string => `'${word}'`

/** As messages were indexed by Postgres before their words were made here; nothing where that is the same. */
function earlierQuery({ kind, text, field }: SearchText): RawBuilder<unknown> | undefined {
  if (field !== undefined || /^[a-z0-9]+$/i.test(text)) return undefined
  if (kind !== 'prefix') return sql`phraseto_tsquery('simple', ${text})`
  // Quoted, so that nothing in it is read as an operator.
  return sql`to_tsquery('simple', ${`'${text.replaceAll('\\', ' ').replaceAll("'", "''")}':*`})`
}
