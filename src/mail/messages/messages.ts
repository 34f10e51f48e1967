import { setImmediate as nextTurn } from 'node:timers/promises'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type Actor, atLeast } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import { type ChangedMailboxes, concerns } from '#mail/changes/streams.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { MatchMarker } from '#mail/search/mark-matches.ts'
import { searchWords } from '#mail/search/message-words.ts'
import type { SearchTerm } from '#mail/search/parse-search.ts'
import { isShownImage, replaceOwnImages } from '#platform/mail-parser/own-images.ts'
import { urlExpiry } from '#platform/objects/object-rules.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type ReadableMailbox,
  selectReadableDetail,
  selectReadableMailboxes,
  selectReadableOf,
  selectRecipients,
  type StoredDetail,
} from './access-queries.ts'
import { downloadNameOf } from './download-name.ts'
import {
  type ListedRange,
  type ListedRow,
  selectFound,
  selectFoundAmongNewest,
  selectListed,
  selectTexts,
} from './list-queries.ts'
import type { MessageFilter } from './message-filter.ts'
import type { MessageDetail, MessageListItem, AttachmentDetail } from './model.ts'
import { objectIdOf, storedAttachments } from './stored-attachments.ts'

/** Mailboxes whose lists are merged; with more of them an admin's list of all is read by time instead. */
const MERGED_MAILBOXES = 200

/** Of each text, where its first match is looked for. */
const TEXT_CHARACTERS = 32 * 1024
const CHARACTERS_OF_TURN = 8 * 1024

const URL_SECONDS = 15 * 60

const NONE = 'none'

const People = Type.Object({
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  replyTo: Type.Array(Type.String()),
  authors: Type.Optional(Type.Array(Type.String())),
})

const Authentication = Type.Object({
  spf: Type.String(),
  dkim: Type.String(),
  dmarc: Type.String(),
})

export interface ListedMessages {
  /** One mailbox; left out: all that the reader may read. */
  readonly mailbox: string | undefined
  readonly filter: MessageFilter
}

type Row = Omit<ListedRow, 'mailboxId' | 'pageKey'>

/** What leads to objects: URLs that are signed when the message is read. */
type SignedParts = Pick<MessageDetail, 'attachments' | 'html' | 'rawUrl'>

/** The messages of a site's mailboxes, for those who may read them: to anyone else a message or mailbox does not exist. */
export class Messages {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'objectUrls' | 'clock'> & {
      readonly database: Pick<Database, 'withSite'>
    },
  ) {
    this.#deps = deps
  }

  /** Newest first. What a search has found is marked. */
  async list(
    site: Site,
    reader: Actor,
    { mailbox, filter }: ListedMessages,
    page: PageRequest,
  ): Promise<PageRows<MessageListItem>> {
    const { search } = filter
    const { items, lastKey, texts } = await this.#deps.database.withSite(
      site.siteId,
      async (tx) => {
        const mailboxes = await readableMailboxes(tx, site, reader, mailbox)
        const mailboxIds = mailboxes?.map(({ mailboxId }) => mailboxId)
        const range = { mailboxIds, filter, limit: page.limit + 1, after: page.after }
        const found = await selectRange(tx, range)
        const rows = pageRows(found, page.limit, ({ pageKey }) => pageKey)
        const localParts = await localPartsOf(tx, reader, { mailboxes, rows: rows.items })
        const listed = rows.items.flatMap((row) => {
          const localPart = localParts.get(row.mailboxId)
          return localPart === undefined ? [] : [listItemOf(site, localPart, row)]
        })
        const ids = listed.map(({ id }) => id)
        return { ...rows, items: listed, texts: await searchedTexts(tx, search, ids) }
      },
    )
    return { items: search.length === 0 ? items : await markFound(search, items, texts), lastKey }
  }

  /** With URLs to its bytes. 404 `MessageNotFound` also for one of another mailbox. */
  async get(site: Site, reader: Actor, messageId: string): Promise<MessageDetail> {
    const found = await this.#deps.database.withSite(site.siteId, async (tx) => {
      const row = await selectReadableDetail(tx, reader, messageId)
      return row && { row, recipients: await selectRecipients(tx, messageId) }
    })
    if (!found) throw notFound('Message', messageId)
    const { row, recipients } = found
    const deliveries = recipients.map(({ updatedAt, ...recipient }) => ({
      ...recipient,
      updatedAt: updatedAt.toISOString(),
    }))
    return { ...detailOf(site, row, await signedPartsOf(this.#deps, site.siteId, row)), deliveries }
  }

  /** 404 `MailboxNotFound` for a mailbox that they may not read. */
  async requireReadable(site: Site, reader: Actor, mailbox: string): Promise<void> {
    await this.#deps.database.withSite(site.siteId, (tx) =>
      readableMailboxes(tx, site, reader, mailbox),
    )
  }

  /** The addresses of the mailboxes with news that they may read now. */
  async readableChanges(
    site: Site,
    reader: Actor,
    {
      mailbox,
      changed,
    }: { readonly mailbox: string | undefined; readonly changed: ChangedMailboxes },
  ): Promise<readonly string[]> {
    const mailboxes = await this.#deps.database.withSite(site.siteId, async (tx) =>
      mailbox === undefined
        ? selectReadableMailboxes(tx, reader, { limit: MERGED_MAILBOXES })
        : ((await readableMailboxes(tx, site, reader, mailbox)) ?? []),
    )
    return mailboxes
      .filter(({ mailboxId }) => concerns(changed, mailboxId))
      .map(({ localPart }) => addressOf(site, localPart))
  }
}

/** Undefined stands for all of the site. */
async function readableMailboxes(
  tx: SiteTx,
  site: Site,
  reader: Actor,
  address: string | undefined,
): Promise<readonly ReadableMailbox[] | undefined> {
  if (address === undefined) {
    const all = await selectReadableMailboxes(tx, reader, { limit: MERGED_MAILBOXES + 1 })
    return all.length > MERGED_MAILBOXES && atLeast(reader, 'admin') ? undefined : all
  }
  const localPart = localPartAt(site.domain, address)
  const found =
    localPart === undefined
      ? []
      : await selectReadableMailboxes(tx, reader, { localPart, limit: 1 })
  if (found.length === 0) throw notFound('Mailbox', address)
  return found
}

/** A word that is not rare is found among the newest messages; a rare one by the index of words, which is short then. */
async function selectRange(tx: SiteTx, range: ListedRange): Promise<readonly ListedRow[]> {
  const { folders, search } = range.filter
  if (range.mailboxIds?.length === 0 || folders.length === 0) return []
  if (search.length === 0) return selectListed(tx, range)
  await searchWords(tx, search, range.mailboxIds)
  const newest = await selectFoundAmongNewest(tx, range)
  return newest.length === range.limit ? newest : selectFound(tx, range)
}

async function localPartsOf(
  tx: SiteTx,
  reader: Actor,
  {
    mailboxes,
    rows,
  }: {
    readonly mailboxes: readonly ReadableMailbox[] | undefined
    readonly rows: readonly ListedRow[]
  },
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.map(({ mailboxId }) => mailboxId))]
  const known = mailboxes ?? (ids.length === 0 ? [] : await selectReadableOf(tx, reader, ids))
  return new Map(known.map(({ mailboxId, localPart }) => [mailboxId, localPart]))
}

/** What a snippet of these messages is made of; nothing when no word is looked for in texts. */
async function searchedTexts(
  tx: SiteTx,
  search: readonly SearchTerm[],
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new MatchMarker(search).isEmpty ? new Map() : selectTexts(tx, messageIds, TEXT_CHARACTERS)
}

/** The messages with what a search has found of them, in turns: many long texts do not keep others waiting. */
async function markFound(
  search: readonly SearchTerm[],
  items: readonly Omit<MessageListItem, 'matches'>[],
  texts: ReadonlyMap<string, string>,
): Promise<MessageListItem[]> {
  const [subjects, senders] = [new MatchMarker(search, 'subject'), new MatchMarker(search, 'from')]
  const markers = new MatchMarker(search)
  const found: MessageListItem[] = []
  let characters = 0
  for (const item of items) {
    const text = texts.get(item.id) ?? ''
    const snippet = markers.excerptOf(text) ?? item.snippet
    const matches = {
      subject: subjects.rangesIn(item.subject),
      from: senders.rangesIn(item.from),
      snippet: markers.rangesIn(snippet),
    }
    found.push({ ...item, snippet, matches })
    characters += text.length
    if (characters < CHARACTERS_OF_TURN) continue
    characters = 0
    await nextTurn()
  }
  return found
}

/**
 * The URLs of a message's bytes. They lead to the service itself, wherever the objects are: it says that they are no page
 * of this origin, which S3 does not. Reads none of the bytes.
 */
async function signedPartsOf(
  deps: Pick<PlatformServices, 'objectUrls' | 'clock'>,
  siteId: string,
  row: StoredDetail,
): Promise<Pick<MessageDetail, 'attachments' | 'html' | 'rawUrl'>> {
  const expiresAt = urlExpiry(deps.clock.now(), URL_SECONDS)
  const sign = async (key: string, downloadName?: string) => {
    const named = downloadName === undefined ? {} : { downloadName }
    const { url } = await deps.objectUrls.sign({ method: 'GET', key, expiresAt, ...named })
    return url
  }
  const attachments: AttachmentDetail[] = []
  const images = new Map<string, string>()
  for (const part of storedAttachments(row.attachments)) {
    const { attachmentId, contentType, sizeBytes, contentId, inline } = part
    const key = partKey(siteId, row.rawId, objectIdOf(part))
    const filename = downloadNameOf(part.filename)
    attachments.push({
      attachmentId,
      filename,
      contentType,
      size: sizeBytes,
      ...(typeof contentId === 'string' && { contentId }),
      inline,
      url: await sign(key, filename),
      expiresAt: expiresAt.toISOString(),
    })
    if (typeof contentId === 'string' && isShownImage(contentType)) {
      images.set(contentId, await sign(key))
    }
  }
  return {
    attachments,
    html: row.html === null ? null : withImages(row.html, images),
    rawUrl: await sign(rawKey(siteId, row.rawId), `${row.messageId}.eml`),
  }
}

/** The parser leaves `src="cid:…"` only. An image that is none of the message's own shows nothing. */
const withImages = (html: string, images: ReadonlyMap<string, string>): string =>
  replaceOwnImages(html, (contentId) => {
    const url = images.get(contentId)
    return url === undefined ? 'src=""' : `src="${url.replaceAll('&', '&amp;')}"`
  })

/** A message as lists show it. */
function listItemOf(site: Site, localPart: string, row: Row): Omit<MessageListItem, 'matches'> {
  const { messageId, fromAddress, receivedAt } = row
  const { folder, subject, hasAttachments, seen, threadId, snippet, deleted } = row
  return {
    id: messageId,
    mailbox: addressOf(site, localPart),
    folder,
    subject,
    hasAttachments,
    seen,
    from: fromAddress,
    to: peopleOf(row).to,
    threadId,
    snippet,
    receivedAt: receivedAt.toISOString(),
    deleted,
  }
}

/** A message as it is read. Before it was parsed, its headers and the raw message are all there is. */
function detailOf(
  site: Site,
  row: StoredDetail,
  signed: SignedParts,
): Omit<MessageDetail, 'deliveries'> {
  const { cc, replyTo, authors } = peopleOf(row)
  return {
    ...listItemOf(site, row.localPart, row),
    ...signed,
    ...(authors && { authors }),
    cc,
    replyTo,
    text: row.text ?? '',
    messageId: row.headerId,
    inReplyTo: row.inReplyTo,
    references: [...row.referenceIds],
    authentication: authenticationOf(row.authentication),
    size: Number(row.sizeBytes),
    parsing: row.parseStatus,
    truncated: row.truncated ?? false,
  }
}

const peopleOf = ({ recipients }: Pick<Row, 'recipients'>): Static<typeof People> =>
  Value.Check(People, recipients) ? recipients : { to: [], cc: [], replyTo: [] }

const authenticationOf = (stored: unknown): MessageDetail['authentication'] => {
  if (!Value.Check(Authentication, stored)) return { spf: NONE, dkim: NONE, dmarc: NONE }
  const { spf, dkim, dmarc } = stored
  return { spf, dkim, dmarc }
}
