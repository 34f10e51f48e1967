import { join } from 'node:path'

import { OPERATOR } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { Config } from '#config/config.ts'
import { programVersion } from '#config/program-version.ts'
import { PASSWORD_KEY } from '#identity/passwords/hash-keys.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { MailTransfer } from '#mail/removal/mail-transfer.ts'
import type { SiteTx, Database } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import type { TableTransfer } from '#runtime/tables/table-transfer.ts'
import type { SiteRecord } from '#sites/model.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Sites } from '#sites/sites.ts'

import {
  ARCHIVE_FORMAT,
  ARCHIVE_PARTS,
  type ArchiveHeader,
  type ArchivePart,
  OPTIONAL_PARTS,
  type OptionalPart,
  SEALED_PARTS,
  type EntryName,
  ROWS_ENTRY_BYTES,
} from './archive-format.ts'
import { ArchiveSeal } from './archive-seal.ts'
import { type ArchiveEntry, type ManifestFacts, writeArchive } from './archive-writer.ts'
import type { CataloguedTable } from './catalogued-tables.ts'
import { storedObjectEntries, type KeptNames, rawIdOf } from './object-entries.ts'
import {
  selectArchivedRows,
  selectCataloguedTables,
  selectMissingSecrets,
  showAllWords,
} from './row-queries.ts'
import { leavingPasswordKey, leavingRow } from './secret-columns.ts'
import { TemporaryFile } from './temporary-file.ts'

/** Messages have their times from the clocks of processes, a snapshot from that of the database. */
const CLOCKS_APART_MS = 60_000

export interface ExportRequest {
  /** Beside definition, items and objects. */
  readonly parts: readonly OptionalPart[]
  /** What secrets are sealed with. */
  readonly passphrase: string | undefined
  readonly origin: RequestOrigin
}

/** What an archive begins with, and its rows on the disk. */
interface Snapshot extends Pick<ManifestFacts, 'missingSecrets'> {
  readonly header: ArchiveHeader
  readonly rows: RowEntries
}

/** Each holds a connection to the database while it reads the rows. */
const AT_ONCE = { permits: 3, permitsPerKey: 1, maxQueued: 4 }

interface Span {
  readonly name: EntryName
  readonly start: number
  readonly end: number
}

/** Sites as archives, which another installation takes in. */
export class SiteExports {
  readonly #deps
  readonly #limiter = new Limiter({ ...AT_ONCE, refuse: tooManyExports })

  constructor(
    deps: Pick<PlatformServices, 'database' | 'databaseTime' | 'objects' | 'disk' | 'logger'> & {
      readonly config: Pick<Config, 'dataDir'>
      readonly sites: Pick<Sites, 'read'>
      readonly resources: Pick<Resources, 'all'>
      readonly tableTransfer: Pick<TableTransfer, 'bodies'>
      readonly mailTransfer: MailTransfer
      readonly securityEvents: Pick<SecurityEvents, 'note'>
      readonly siteKeys: SiteKeys
      readonly sealer: Pick<Sealer, 'seal' | 'open' | 'derive'>
    },
  ) {
    this.#deps = deps
  }

  /**
   * All rows are of one moment, and have been read when this resolves. Objects are read as they are taken: one that changes
   * during the export comes as it is then.
   */
  async export(siteId: string, request: ExportRequest): Promise<ReadableStream<Uint8Array>> {
    const { config, disk, securityEvents } = this.#deps
    disk.check('folder')
    requirePassphrase(request)
    const seal =
      request.passphrase === undefined ? undefined : await ArchiveSeal.create(request.passphrase)
    const file = await TemporaryFile.open(join(config.dataDir, 'work'))
    const rows = new RowEntries(file)
    try {
      const read = () => this.#snapshot(siteId, rows, { ...request, seal })
      const snapshot = await this.#limiter.run(read, { key: siteId })
      await securityEvents.note(siteId, {
        event: 'site.exported',
        actor: OPERATOR,
        origin: request.origin,
        detail: { parts: snapshot.header.parts.join(' ') },
      })
      return writeArchive(snapshot.header, this.#entries(siteId, snapshot))
    } catch (error) {
      await rows[Symbol.asyncDispose]()
      throw error
    }
  }

  #snapshot(
    siteId: string,
    rows: RowEntries,
    {
      parts: asked,
      seal,
    }: Pick<ExportRequest, 'parts'> & { readonly seal?: ArchiveSeal | undefined },
  ): Promise<Snapshot> {
    const { database, databaseTime, sites } = this.#deps
    const parts = ARCHIVE_PARTS.filter((part) => !isOptional(part) || asked.includes(part))
    return database.withSiteSnapshot(siteId, async (tx) => {
      const exportedAt = await databaseTime(tx)
      const site = await sites.read(tx)
      await showAllWords(tx)
      for (const table of tablesOf(parts, await selectCataloguedTables(tx))) {
        const lines = this.#lines(tx, table, seal)
        await rows.add({ part: table.part, of: table.table, head: { table: table.table } }, lines)
      }
      await this.#addItems(tx, rows)
      const header: ArchiveHeader = {
        format: 'croft-site',
        formatVersion: ARCHIVE_FORMAT,
        productVersion: await programVersion(),
        exportedAt: exportedAt.toISOString(),
        parts,
        site: archivedSite(site),
        passphrase: seal?.header ?? null,
      }
      const missingSecrets = parts.includes('keys') ? [] : await selectMissingSecrets(tx)
      return { header, rows, missingSecrets }
    })
  }

  async *#lines(tx: SiteTx, table: CataloguedTable, seal: ArchiveSeal | undefined) {
    if (table.secrets === undefined) return yield* selectArchivedRows(tx, table)
    const { sealer, siteKeys } = this.#deps
    const archive = table.part === 'definition' ? undefined : seal
    const passwordKey = sealer.derive(PASSWORD_KEY)
    const seals = { sealer, siteKey: await siteKeys.wrapped(tx), archive, passwordKey }
    if (table.table === 'password_key') yield [leavingPasswordKey(seals)]
    for await (const lines of selectArchivedRows(tx, table)) {
      yield lines.map((line) => leavingRow(line, table, seals))
    }
  }

  async #addItems(tx: SiteTx, rows: RowEntries): Promise<void> {
    const { resources, tableTransfer } = this.#deps
    for (const { type, resourceId, name } of await resources.all(tx)) {
      if (type !== 'ddbTable') continue
      const head = { tableId: resourceId, name }
      const bodies = tableTransfer.bodies(tx, resourceId)
      await rows.add({ part: 'items', of: 'items', head }, bodies)
    }
  }

  /** In the order of the parts. Closes the rows when it is done, or left. */
  async *#entries(
    siteId: string,
    { header, rows, missingSecrets }: Snapshot,
  ): AsyncGenerator<ArchiveEntry, ManifestFacts, undefined> {
    await using _rows = rows
    try {
      return yield* this.#partsOf(siteId, { header, rows, missingSecrets })
    } catch (error) {
      // The client only sees that the response broke off: the status was sent before.
      this.#deps.logger.warn({ siteId, err: error }, 'an export broke off')
      throw error
    }
  }

  async *#partsOf(
    siteId: string,
    { header, rows, missingSecrets }: Snapshot,
  ): AsyncGenerator<ArchiveEntry, ManifestFacts, undefined> {
    let objects = 0
    for (const part of header.parts) {
      yield* rows.entries(part)
      const mail = new LeavingMail(siteId, this.#deps)
      const kept = part === 'mail' ? mail.kept : async (names: readonly string[]) => names
      objects += yield* storedObjectEntries(this.#deps.objects, siteId, { part, kept })
      if (part === 'mail') await mail.check(rows.counts['mail_raw'] ?? 0, header)
    }
    return { rows: rows.counts, objects, missingSecrets }
  }
}

const tablesOf = (parts: readonly ArchivePart[], tables: readonly CataloguedTable[]) =>
  tables.filter(({ part, needs = part }) => parts.includes(part) && parts.includes(needs))

function requirePassphrase({ parts, passphrase }: ExportRequest): void {
  const sealed = parts.filter((part) => SEALED_PARTS.includes(part))
  if (passphrase !== undefined || sealed.length === 0) return
  throw new AppError(
    'PassphraseRequired',
    `What is exported with ${sealed.join(' and ')} has secrets in it: send a passphrase to seal them with`,
  )
}

const tooManyExports = (): AppError =>
  new AppError(
    'ServiceUnavailable',
    `${AT_ONCE.maxQueued} exports of this site wait for another one: try again when they are done`,
    { retryAfterSeconds: 60 },
  )

const isOptional = (part: ArchivePart): part is OptionalPart =>
  OPTIONAL_PARTS.some((optional) => optional === part)

/** As `POST /portal/api/sites` takes it. */
function archivedSite(site: SiteRecord): ArchiveHeader['site'] {
  const { domain, adminDomain, authDomain, formerAuthDomains, region, sourceMode } = site
  const { repo, repoBinding, deploymentSettings } = site
  return {
    domain,
    ...(adminDomain === null ? {} : { adminDomain }),
    ...(authDomain === null ? {} : { authDomain }),
    ...(formerAuthDomains.length === 0 ? {} : { formerAuthDomains }),
    region,
    sourceMode,
    ...(repo === null ? {} : { repo }),
    ...(repoBinding === null ? {} : { repoBinding }),
    deploymentSettings,
    currentDeploymentId: site.currentDeploymentId,
  }
}

/** The stored messages of a site that is exported, as they are found after its snapshot. */
class LeavingMail {
  readonly #siteId: string
  readonly #deps: { readonly database: Database; readonly mailTransfer: MailTransfer }
  #left = 0

  constructor(
    siteId: string,
    deps: { readonly database: Database; readonly mailTransfer: MailTransfer },
  ) {
    this.#siteId = siteId
    this.#deps = deps
  }

  /** Leaves out what belongs to no message: uploads for messages that are not sent yet, and leftovers. */
  readonly kept: KeptNames = async (names) => {
    const { database, mailTransfer } = this.#deps
    const rawIds = [...new Set(names.map(messageOf))]
    const known = await database.withSite(this.#siteId, (tx) => mailTransfer.known(tx, rawIds))
    const kept = names.filter((name) => known.has(messageOf(name)))
    this.#left += kept.filter((name) => rawIdOf({ kind: 'mail', name }) !== undefined).length
    return kept
  }

  /** Whether every message of the snapshot was still there. */
  async check(snapshotCount: number, { exportedAt }: ArchiveHeader): Promise<void> {
    const { database, mailTransfer } = this.#deps
    const until = new Date(new Date(exportedAt).getTime() + CLOCKS_APART_MS)
    const stillThere = await database.withSite(this.#siteId, (tx) => mailTransfer.count(tx, until))
    if (Math.min(this.#left, stillThere) >= snapshotCount) return
    throw new AppError(
      'ServiceUnavailable',
      'Messages of the site were purged while it was exported: export it again',
      { retryAfterSeconds: 1 },
    )
  }
}

const messageOf = (name: string): string => name.split('/', 1)[0] ?? ''

/**
 * Entries of rows, written to the disk while the snapshot that they come from is open: no slow reader keeps the
 * database from cleaning up.
 */
class RowEntries implements AsyncDisposable {
  readonly #file: TemporaryFile
  readonly #spans: Span[] = []
  readonly #numbers = new Map<ArchivePart, number>()
  readonly #counts: Record<string, number> = {}

  constructor(file: TemporaryFile) {
    this.#file = file
  }

  /** How many rows were added, by what they are rows of. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }

  /** Each entry begins with a line that says what its rows are. */
  async add(
    { part, of, head }: { readonly part: ArchivePart; readonly of: string; readonly head: object },
    batches: AsyncIterable<readonly string[]>,
  ): Promise<void> {
    const headLine = JSON.stringify(head)
    let lines: string[] = []
    let length = 0
    const write = async () => {
      if (lines.length > 0) await this.#write(part, `${headLine}\n${lines.join('\n')}\n`)
      lines = []
      length = 0
    }
    for await (const batch of batches) {
      this.#counts[of] = (this.#counts[of] ?? 0) + batch.length
      for (const line of batch) {
        if (length + line.length > ROWS_ENTRY_BYTES) await write()
        lines.push(line)
        length += line.length
      }
    }
    await write()
  }

  /** Those of one part, in the order in which they were added. */
  *entries(part: ArchivePart): Generator<ArchiveEntry, void, undefined> {
    for (const { name, start, end } of this.#spans) {
      if (name.part !== part) continue
      yield { name, sizeBytes: end - start, body: this.#file.read(start, end) }
    }
  }

  async #write(part: ArchivePart, text: string): Promise<void> {
    const start = this.#file.sizeBytes
    await this.#file.append(Buffer.from(text))
    const number = 1 + (this.#numbers.get(part) ?? 0)
    this.#numbers.set(part, number)
    this.#spans.push({ name: { part, number, kind: 'rows' }, start, end: this.#file.sizeBytes })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]()
  }
}
