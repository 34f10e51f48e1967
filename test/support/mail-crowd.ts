import { MessageVectors } from '#mail/search/message-vector.ts'
import type { SqlClient, SqlRunner } from '#platform/postgres/client.ts'

/** Of one statement. */
const BATCH = 1000
/** Of each text, out of so many. */
const WORDS = 40
const VOCABULARY = 30_000

export interface MailCrowd {
  readonly siteId: string
  readonly mailboxId: string
  readonly messages: number
  /** Names the messages: no two crowds of a site have the same. */
  readonly name: string
}

/**
 * So many messages, a minute apart, the newest now: one in ten in the archive, one in ten in the trash, one in twenty not seen,
 * ten to a thread. Each has the word `everywhere`, one in a thousand `rare`, and number n `only{n}`. `owner` is the superuser:
 * row-level security does not slow it down; neither do foreign keys, nor an index that grows word by word.
 */
export async function storeCrowd(owner: SqlClient, crowd: MailCrowd): Promise<void> {
  await owner.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    await sql`set local maintenance_work_mem = '512MB'`
    const [index] = await sql<{ definition: string }[]>`
      select pg_get_indexdef('mail_search_by_words'::regclass) as definition`
    if (!index) throw new Error('There is no index of words')
    await sql`drop index mail_search_by_words`
    await insertCrowd(sql, crowd)
    await sql.unsafe(index.definition)
  })
  await owner`vacuum analyze mail_raw, mail_content, mail_message, mail_search, mailbox`
}

async function insertCrowd(owner: SqlRunner, crowd: MailCrowd): Promise<void> {
  const { siteId, mailboxId, messages, name } = crowd
  await owner`
    insert into mail_raw (site_id, raw_id, size_bytes, sha256, envelope_from, client, trace_header,
                          authentication, parse_status, received_at)
    select ${siteId}, 'raw_' || ${name} || n, 2000, ''::bytea, 'eve@else.test', '{}', '', '{}',
           'parsed', now() - n * interval '1 minute'
    from generate_series(1, ${messages}::int) n`
  await owner`
    insert into mail_message (site_id, message_id, mailbox_id, raw_id, size_bytes, recipient, folder,
                              trashed_at, seen, received_at, thread_id, subject, from_address,
                              recipients, snippet)
    select ${siteId}, 'msg_' || ${name} || n, ${mailboxId}, 'raw_' || ${name} || n, 2000, 'info',
           case n % 10 when 3 then 'ARCHIVE' when 7 then 'TRASH' else 'INBOX' end,
           case n % 10 when 7 then now() end, n % 20 <> 1, now() - n * interval '1 minute',
           'thr_' || ${name} || n / 10, 'Message ' || n, 'Eve <eve@else.test>',
           '{"to":["info@one.test"]}', repeat('words of it ', 12)
    from generate_series(1, ${messages}::int) n`
  await insertWords(owner, crowd)
  await owner`
    update mailbox set used_messages = used_messages + ${messages}, used_bytes = used_bytes + ${messages * 2000}
    where site_id = ${siteId} and mailbox_id = ${mailboxId}`
  await owner`
    update mail_usage set used_messages = used_messages + ${messages}, used_bytes = used_bytes + ${messages * 2000}
    where site_id = ${siteId}`
}

/** In batches: their words are made here. */
async function insertWords(owner: SqlRunner, crowd: MailCrowd): Promise<void> {
  const { siteId, mailboxId, messages, name } = crowd
  const vectors = new MessageVectors()
  for (let first = 1; first <= messages; first += BATCH) {
    const numbers = Array.from(
      { length: Math.min(BATCH, messages + 1 - first) },
      (_, n) => first + n,
    )
    const texts = numbers.map(textOf)
    const words = await Promise.all(
      numbers.map((n, index) => vectors.vectorOf({ ...messageOf(n), text: texts[index] ?? '' })),
    )
    await owner`
      insert into mail_content (site_id, raw_id, text)
      select ${siteId}, 'raw_' || ${name} || n, text
      from unnest(${numbers}::int[], ${texts}::text[]) made (n, text)`
    await owner`
      insert into mail_search (site_id, message_id, mailbox_id, received_at, words)
      select ${siteId}, 'msg_' || ${name} || n, ${mailboxId}, now() - n * interval '1 minute',
             array_to_tsvector(array[${siteId}, ${mailboxId}]) || words::tsvector
      from unnest(${numbers}::int[], ${words}::text[]) made (n, words)`
  }
}

const messageOf = (n: number) => ({
  subject: `Message ${n}`,
  from: ['Eve <eve@else.test>'],
  to: ['info@one.test'],
  filenames: [],
  hasAttachments: false,
})

const textOf = (n: number): string =>
  [
    'everywhere',
    `only${n}`,
    ...(n % 1000 === 0 ? ['rare'] : []),
    ...Array.from(
      { length: WORDS },
      (_, word) => `w${(n * 7919 + (word + 1) * 104_729) % VOCABULARY}`,
    ),
  ].join(' ')
