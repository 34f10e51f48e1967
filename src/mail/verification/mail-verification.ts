import { createHash } from 'node:crypto'

import { pageRows } from '#base/page.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import { objectIdOf, storedAttachments } from '#mail/messages/stored-attachments.ts'
import { mailPrefix, partsPrefix, rawIdOfKey, rawKey } from '#mail/objects/mail-keys.ts'
import { objectSizes } from '#platform/objects/object-pages.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { MailFinding, MailFindings, MailFindingsPage } from './model.ts'
import {
  type Counts,
  countMailboxes,
  selectDifferingMailboxes,
  selectDifferingSite,
  selectKnownRaws,
  selectMessagesUnlikeRaw,
  selectRawsWithoutContent,
  selectRawsWithoutMessage,
  selectVerifiedRaws,
  type VerifiedRaw,
} from './queries.ts'

/** Messages of one page, and of one whose bytes are read. */
const PAGE = 200
const READ_PAGE = 20
const AT_ONCE = 16
const LIST_PAGE = 1000

/** Before that, bytes without rows are of a message that may yet be accepted. */
const DAY_MS = 24 * 3_600_000

type VerifiedObjects = Pick<ObjectStore, 'list' | 'head' | 'get'>

/** Compares what is stored of a site's mail: counts with messages, rows with one another, and with their objects. */
export class MailVerification {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly objects: VerifiedObjects
    },
  ) {
    this.#deps = deps
  }

  /** Looks at rows alone. `checked` counts mailboxes. */
  rows(site: Site): Promise<MailFindings> {
    return this.#deps.database.withSite(site.siteId, async (tx) => ({
      checked: await countMailboxes(tx),
      findings: [...(await countFindings(tx, site)), ...(await rowFindings(tx))],
    }))
  }

  /** Whether messages have their objects, as long as they are to be; read whole if asked to. `checked` counts messages. */
  async messages(
    { siteId }: Site,
    { after = '', reading }: { readonly after: string | undefined; readonly reading: boolean },
  ): Promise<MailFindingsPage> {
    const { database, objects } = this.#deps
    const limit = reading ? READ_PAGE : PAGE
    const rows = await database.withSite(siteId, (tx) =>
      selectVerifiedRaws(tx, { after, limit: limit + 1 }),
    )
    const { items, lastKey } = pageRows(rows, limit, ({ rawId }) => rawId)
    const found: MailFinding[] = []
    for (let first = 0; first < items.length; first += AT_ONCE) {
      const some = items.slice(first, first + AT_ONCE)
      const findings = await Promise.all(
        some.map((raw) => storedFindings(objects, siteId, raw, reading)),
      )
      found.push(...findings.flat())
    }
    const ids = [...new Set(found.map(({ id }) => id))]
    const { stored } = await database.withSite(siteId, (tx) => selectKnownRaws(tx, ids))
    // What was purged since has lost its objects rightly.
    return { checked: items.length, findings: found.filter(({ id }) => stored.has(id)), lastKey }
  }

  /** Whether objects have a message. `checked` counts objects. */
  async objects({ siteId }: Site, after: string | undefined): Promise<MailFindingsPage> {
    const { database, objects, clock } = this.#deps
    const startAfter = after === undefined ? {} : { startAfter: after }
    const page = await objects.list({
      prefix: mailPrefix(siteId),
      maxKeys: LIST_PAGE,
      ...startAfter,
    })
    const before = clock.now().getTime() - DAY_MS
    const old = page.objects.filter(({ lastModified }) => lastModified.getTime() < before)
    const ids = [...new Set(old.map(({ key }) => rawIdOfKey(siteId, key)))]
    const { stored, removed } = await database.withSite(siteId, (tx) => selectKnownRaws(tx, ids))
    const findings: MailFinding[] = []
    for (const id of ids.filter((each) => !stored.has(each) && !removed.has(each))) {
      if (!(await hasObjects(objects, siteId, id))) continue
      findings.push({ code: 'OrphanedObjects', id, detail: `the bytes of ${id} are of no message` })
    }
    const lastKey = page.continuation === undefined ? undefined : page.objects.at(-1)?.key
    return { checked: page.objects.length, findings, lastKey }
  }
}

async function hasObjects(
  objects: VerifiedObjects,
  siteId: string,
  rawId: string,
): Promise<boolean> {
  if (await objects.head(rawKey(siteId, rawId))) return true
  const parts = await objects.list({ prefix: partsPrefix(siteId, rawId), maxKeys: 1 })
  return parts.objects.length > 0
}

async function countFindings(tx: SiteTx, site: Site): Promise<MailFinding[]> {
  const mailboxes = await selectDifferingMailboxes(tx)
  const findings = mailboxes.map(({ localPart, ...counts }) =>
    countFinding(addressOf(site, localPart), 'its messages', counts),
  )
  const usage = await selectDifferingSite(tx)
  if (usage !== undefined) findings.push(countFinding(site.domain, 'its mailboxes', usage))
  return findings
}

const countFinding = (id: string, whose: string, counts: Counts): MailFinding => ({
  code: 'CountsDiffer',
  id,
  detail:
    `${id} counts ${counts.usedBytes} bytes in ${counts.usedMessages} messages, ` +
    `and ${whose} are ${counts.heldBytes} in ${counts.heldMessages}`,
})

/** What there must not be of what came. */
const RAW_KINDS = [
  ['RawWithoutMessage', selectRawsWithoutMessage, 'is in no mailbox'],
  ['ContentMissing', selectRawsWithoutContent, 'was parsed, and what was read is not there'],
] as const

async function rowFindings(tx: SiteTx): Promise<MailFinding[]> {
  const findings = (await selectMessagesUnlikeRaw(tx)).map(({ id, isWithout }): MailFinding =>
    isWithout
      ? { code: 'MessageWithoutRaw', id, detail: `${id} has lost what came` }
      : { code: 'MessageSizeDiffers', id, detail: `${id} counts other bytes than came` },
  )
  for (const [code, select, words] of RAW_KINDS) {
    for (const id of await select(tx)) findings.push({ code, id, detail: `${id} ${words}` })
  }
  return findings
}

/** What is wrong with the objects of one message. */
async function storedFindings(
  objects: VerifiedObjects,
  siteId: string,
  raw: VerifiedRaw,
  reading: boolean,
): Promise<MailFinding[]> {
  const { rawId: id } = raw
  const [head, sizes] = await Promise.all([
    objects.head(rawKey(siteId, id)),
    objectSizes(objects, partsPrefix(siteId, id)),
  ])
  const rawSize = head?.sizeBytes
  const findings = attachmentFindings(raw, sizes)
  if (rawSize === undefined) {
    findings.unshift({ code: 'RawObjectMissing', id, detail: `the bytes of ${id} are gone` })
  } else if (rawSize !== Number(raw.sizeBytes)) {
    const detail = `${id} has ${rawSize} bytes, and ${raw.sizeBytes} came`
    findings.unshift({ code: 'RawObjectDiffers', id, detail })
  } else if (reading && !(await isAsItCame(objects, siteId, raw))) {
    findings.unshift({ code: 'RawObjectDiffers', id, detail: `${id} has other bytes than came` })
  }
  return findings
}

function attachmentFindings(
  { rawId: id, attachments }: VerifiedRaw,
  sizes: ReadonlyMap<string, number>,
): MailFinding[] {
  const parts = storedAttachments(attachments).map((part) => ({
    found: sizes.get(objectIdOf(part)),
    sizeBytes: part.sizeBytes,
  }))
  const missing = parts.filter(({ found }) => found === undefined).length
  const other = parts.filter(({ found, sizeBytes }) => (found ?? sizeBytes) !== sizeBytes).length
  const of = `of the ${parts.length} attachments of ${id}`
  const findings: MailFinding[] = []
  if (missing > 0) {
    findings.push({ code: 'AttachmentObjectsMissing', id, detail: `${missing} ${of} are gone` })
  }
  if (other > 0) {
    const detail = `${other} ${of} have another length`
    findings.push({ code: 'AttachmentObjectsDiffer', id, detail })
  }
  return findings
}

async function isAsItCame(
  objects: VerifiedObjects,
  siteId: string,
  { rawId, sha256 }: VerifiedRaw,
): Promise<boolean> {
  const stored = await objects.get(rawKey(siteId, rawId))
  if (!stored) return false
  const hash = createHash('sha256')
  for await (const chunk of stored.body) hash.update(chunk)
  return hash.digest().equals(sha256)
}
