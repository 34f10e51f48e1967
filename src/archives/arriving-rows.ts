import { Type } from '@sinclair/typebox'

import { PASSWORD_KEY } from '#identity/passwords/hash-keys.ts'
import type { MailTransfer } from '#mail/removal/mail-transfer.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { BucketTransfer } from '#runtime/buckets/bucket-transfer.ts'
import { parseConfig } from '#runtime/resources/config.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import { plus, NOTHING } from '#runtime/tables/quotas/cost.ts'
import type { TableTransfer } from '#runtime/tables/table-transfer.ts'
import type { Table } from '#runtime/tables/table.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import {
  type EntryName,
  SEALED_PARTS,
  checked,
  invalidArchive,
  entryName,
  parseJson,
} from './archive-format.ts'
import type { ArchiveSeal } from './archive-seal.ts'
import type { CataloguedTable } from './catalogued-tables.ts'
import { insertArchivedRows, selectCataloguedTables } from './row-queries.ts'
import { arrivingRow, isOwnPasswordKey } from './secret-columns.ts'
import type { UnpackedArchive } from './unpacked-archive.ts'

/** So that one statement stays short. */
const LINES_AT_ONCE = 500

const TableHead = Type.Object({ table: Type.String() })
const ItemsHead = Type.Object({ tableId: Type.String() })

export interface ArrivingRowsDeps {
  readonly resources: Pick<Resources, 'all'>
  readonly tableTransfer: TableTransfer
  readonly bucketTransfer: BucketTransfer
  readonly mailTransfer: MailTransfer
  readonly siteKeys: SiteKeys
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'derive'>
}

/** Writes all rows of an archive, in the transaction that makes its site. */
export async function writeArrivingRows(
  tx: SiteTx,
  archive: UnpackedArchive,
  deps: ArrivingRowsDeps & {
    readonly seal: ArchiveSeal | undefined
    /** After each entry. */
    readonly onRows: (rows: number) => void
  },
): Promise<void> {
  const site = new ArrivingSite(tx, deps)
  for await (const [name, [head = '', ...lines]] of archive.rows()) {
    const value = parseJson(entryName(name), Buffer.from(head))
    await (name.part === 'items'
      ? site.fillTable(name, value, lines)
      : site.insert(name, value, lines, deps.seal))
    deps.onRows(lines.length)
  }
  await site.account(archive)
}

class ArrivingSite {
  readonly #tx: SiteTx
  readonly #deps: ArrivingRowsDeps
  #tables: Promise<readonly CataloguedTable[]> | undefined
  #stores: Promise<Stores> | undefined
  #used = NOTHING

  constructor(tx: SiteTx, deps: ArrivingRowsDeps) {
    this.#tx = tx
    this.#deps = deps
  }

  async insert(
    name: EntryName,
    head: unknown,
    lines: readonly string[],
    seal: ArchiveSeal | undefined,
  ): Promise<void> {
    const { table: asked } = checked(TableHead, entryName(name), head)
    this.#tables ??= selectCataloguedTables(this.#tx)
    const table = (await this.#tables).find(
      (each) => each.table === asked && each.part === name.part,
    )
    if (table === undefined) throw invalidArchive(`"${entryName(name)}" has rows of nothing known`)
    const { sealer, siteKeys } = this.#deps
    const archive = name.part === 'definition' ? undefined : seal
    if (archive === undefined && SEALED_PARTS.some((part) => part === name.part)) {
      throw invalidArchive('its secrets are not sealed')
    }
    const passwordKey = sealer.derive(PASSWORD_KEY)
    const seals = { sealer, siteKey: await siteKeys.wrapped(this.#tx), archive, passwordKey }
    for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
      const given = lines.slice(at, at + LINES_AT_ONCE)
      const some =
        table.table === 'password_key'
          ? given.filter((line) => !isOwnPasswordKey(line, seals))
          : given
      const arriving =
        table.secrets === undefined ? some : some.map((line) => arrivingRow(line, table, seals))
      await insertArchivedRows(this.#tx, table, arriving)
    }
  }

  async fillTable(name: EntryName, head: unknown, lines: readonly string[]): Promise<void> {
    const { tableId } = checked(ItemsHead, entryName(name), head)
    const table = (await this.#openStores()).tables.get(tableId)
    if (table === undefined) throw invalidArchive(`"${entryName(name)}" has items of no table`)
    for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
      const items = lines
        .slice(at, at + LINES_AT_ONCE)
        .map((line) => parseJson(entryName(name), Buffer.from(line)))
      const cost = await this.#deps.tableTransfer.fill(this.#tx, table, items)
      this.#used = plus(this.#used, cost)
    }
  }

  /** What tables and buckets hold, for their quotas. */
  async account(archive: UnpackedArchive): Promise<void> {
    const { bucketTransfer, tableTransfer } = this.#deps
    const { buckets } = await this.#openStores()
    await tableTransfer.open(this.#tx, this.#used)
    for await (const objects of archive.bucketObjects.batches()) {
      const stray = objects.find(({ bucketId }) => !buckets.has(bucketId))
      if (stray)
        throw invalidArchive(`it has objects of a bucket "${stray.bucketId}", which it lacks`)
      await bucketTransfer.add(this.#tx, objects)
    }
    await bucketTransfer.open(this.#tx)
    await this.#checkMail(archive)
  }

  /** A message without its bytes would be found out by its reader only. */
  async #checkMail(archive: UnpackedArchive): Promise<void> {
    const { mailTransfer } = this.#deps
    const wanted = await mailTransfer.count(this.#tx)
    let found = 0
    for await (const rawIds of archive.rawIds.batches()) {
      found += (await mailTransfer.known(this.#tx, rawIds)).size
    }
    if (found !== wanted) throw invalidArchive('it has messages without their bytes')
    if (wanted > 0) await mailTransfer.arrived(this.#tx)
  }

  #openStores(): Promise<Stores> {
    this.#stores ??= this.#readStores()
    return this.#stores
  }

  /** Once all of the definition is there. What it says of each resource is checked as if an admin had sent it. */
  async #readStores(): Promise<Stores> {
    const tables = new Map<string, Table>()
    const buckets = new Set<string>()
    for (const { resourceId, type, config } of await this.#deps.resources.all(this.#tx)) {
      const checkedConfig = parseConfig(type, config)
      if (type === 's3Bucket') buckets.add(resourceId)
      if (checkedConfig.type !== 'ddbTable') continue
      const table = { siteId: this.#tx.siteId, tableId: resourceId, schema: checkedConfig.config }
      await this.#deps.tableTransfer.define(this.#tx, table)
      tables.set(resourceId, table)
    }
    return { tables, buckets }
  }
}

interface Stores {
  readonly tables: ReadonlyMap<string, Table>
  readonly buckets: ReadonlySet<string>
}
