import { join } from 'node:path'

import { OPERATOR } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { codeOf } from '#base/error-code.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { Config } from '#config/config.ts'
import type { Pools } from '#identity/pools/pools.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { AccountDeletions } from '#identity/self-service/deletions.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Jobs } from '#runtime/jobs/jobs.ts'
import type { RuntimeLifecycle } from '#runtime/runtime-lifecycle.ts'
import type { SiteImports } from '#sites/imports/site-imports.ts'
import { parseSuperAdmins } from '#sites/model.ts'
import type { Onboarding } from '#sites/site-lifecycle.ts'
import type { Sites } from '#sites/sites.ts'

import { type ArchiveHeader, type MissingSecret, invalidArchive } from './archive-format.ts'
import { ArchiveSeal } from './archive-seal.ts'
import { type ArrivingRowsDeps, writeArrivingRows } from './arriving-rows.ts'
import { TemporaryFile } from './temporary-file.ts'
import { UnpackedArchive } from './unpacked-archive.ts'
import { type VerifiedArchive, verifyArchive } from './verified-archive.ts'

export interface ImportRequest {
  /** The domain that the site gets; the one that it had when undefined. */
  readonly host: string | undefined
  /** What its secrets are sealed with. */
  readonly passphrase: string | undefined
  /** Addresses that get an onboarding link. */
  readonly superAdmins: readonly string[]
  /** What the archive may unpack to. */
  readonly maxBytes: number
  readonly origin: RequestOrigin
}

/** An archive that is here as a whole and is what it says. Dispose of it. */
export interface ReceivedArchive extends VerifiedArchive, AsyncDisposable {
  readonly file: TemporaryFile
  readonly seal: ArchiveSeal | undefined
}

/** How far an import is. */
export interface ImportProgress {
  readonly objects: number
  readonly rows: number
}

export interface ImportedArchive {
  readonly siteId: string
  readonly siteDomain: string
  readonly exportedAt: string
  readonly rows: Readonly<Record<string, number>>
  readonly objects: number
  readonly missingSecrets: readonly MissingSecret[]
  readonly onboarding: readonly Onboarding[]
}

/** Takes in sites that were exported: each as a whole, or not at all. */
export class ArchiveImports {
  readonly #deps

  constructor(
    deps: ArrivingRowsDeps &
      Pick<PlatformServices, 'database' | 'objects' | 'disk' | 'ids'> & {
        readonly config: Pick<Config, 'dataDir'>
        readonly sites: Pick<Sites, 'checkImport' | 'addImported'>
        readonly siteImports: Pick<SiteImports, 'begin'>
        readonly pools: Pick<Pools, 'arrived'>
        readonly lifecycle: Pick<RuntimeLifecycle, 'updated'>
        readonly jobs: Pick<Jobs, 'scheduleAll'>
        readonly accountDeletions: Pick<AccountDeletions, 'schedule'>
        readonly securityEvents: Pick<SecurityEvents, 'record'>
      },
  ) {
    this.#deps = deps
  }

  /** Keeps the archive on the disk and verifies it as it comes. Nothing of it is used before all of it was verified. */
  async receive(body: AsyncIterable<Uint8Array>, request: ImportRequest): Promise<ReceivedArchive> {
    const { config, disk, sites } = this.#deps
    disk.check('folder', 'database', 'objects')
    parseSuperAdmins(request.superAdmins)
    const file = await TemporaryFile.open(join(config.dataDir, 'work'))
    let seal: ArchiveSeal | undefined
    try {
      const verified = await verifyArchive(saved(body, file), request.maxBytes, async (header) => {
        await sites.checkImport(siteIn(header, request))
        seal = await openSeal(header, request)
      })
      return { ...verified, file, seal, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() }
    } catch (error) {
      await file[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The site appears when this resolves, with everything that the archive has; nothing of it is left when it rejects. */
  async load(
    archive: ReceivedArchive,
    request: ImportRequest,
    onProgress: (progress: ImportProgress) => void,
  ): Promise<ImportedArchive> {
    const { config, siteImports, ids, objects, database } = this.#deps
    const site = siteIn(archive.header, request)
    await using rowsFile = await TemporaryFile.open(join(config.dataDir, 'work'))
    await using opened = await siteImports.begin(ids.siteId(), site.domain)
    const done = { objects: 0, rows: 0 }
    const unpacked = await UnpackedArchive.unpack(
      archive.file.read(),
      {
        siteId: opened.siteId,
        objects,
        file: rowsFile,
        onObject: () => onProgress({ ...done, objects: (done.objects += 1) }),
      },
      request.maxBytes,
    )
    const onRows = (rows: number) => onProgress({ ...done, rows: (done.rows += rows) })
    const onboarding = await database
      .withSite(opened.siteId, async (tx) => {
        const links = await this.#write(tx, { ...archive, request, unpacked, onRows })
        await opened.finish(tx)
        return links
      })
      .catch((error: unknown) => {
        throw asDamage(error)
      })
    const { manifest, header } = archive
    return {
      siteId: opened.siteId,
      siteDomain: site.domain,
      exportedAt: header.exportedAt,
      rows: manifest.rows,
      objects: manifest.objects,
      missingSecrets: manifest.missingSecrets,
      onboarding,
    }
  }

  async #write(
    tx: SiteTx,
    { header, request, seal, unpacked, onRows }: Writing,
  ): Promise<readonly Onboarding[]> {
    const { sites, lifecycle, pools, jobs, accountDeletions, securityEvents } = this.#deps
    const site = await sites.addImported(tx, siteIn(header, request))
    await lifecycle.updated(tx)
    await writeArrivingRows(tx, unpacked, { ...this.#deps, seal, onRows })
    await jobs.scheduleAll(tx)
    await accountDeletions.schedule(tx)
    const superAdmins = parseSuperAdmins(request.superAdmins)
    const arrived = await pools.arrived(tx, site, { superAdmins })
    if (arrived === undefined) throw invalidArchive('it lacks the pools that every site has')
    await securityEvents.record(tx, {
      event: 'site.imported',
      actor: OPERATOR,
      origin: request.origin,
      detail: { from: header.site.domain, exportedAt: header.exportedAt },
    })
    return arrived.onboarding ?? []
  }
}

interface Writing extends Pick<ReceivedArchive, 'header' | 'seal'> {
  readonly request: ImportRequest
  readonly unpacked: UnpackedArchive
  readonly onRows: (rows: number) => void
}

const NO_OTHER_NAMES = { adminDomain: null, authDomain: null, formerAuthDomains: [] }

const siteIn = ({ site }: ArchiveHeader, { host }: ImportRequest) => ({
  ...site,
  domain: host ?? site.domain,
  // Its other names belong to the site that has the domain.
  ...(host !== undefined && host !== site.domain && NO_OTHER_NAMES),
})

async function openSeal(
  { passphrase: sealed }: ArchiveHeader,
  { passphrase }: ImportRequest,
): Promise<ArchiveSeal | undefined> {
  if (sealed === null) return undefined
  if (passphrase === undefined) {
    throw new AppError(
      'PassphraseRequired',
      'The archive has secrets that a passphrase seals: give the one that it was exported with',
    )
  }
  return ArchiveSeal.open(passphrase, sealed)
}

async function* saved(body: AsyncIterable<Uint8Array>, file: TemporaryFile) {
  for await (const chunk of body) {
    await file.append(chunk)
    yield chunk
  }
}

/** What PostgreSQL or a rule of ours says of a row: an export has none such. */
function asDamage(error: unknown): unknown {
  if (error instanceof AppError) {
    return error.code === 'ValidationError' ? invalidArchive(error.message, error) : error
  }
  // Values that are none of their type, and constraints that do not hold.
  return /^2[23]/.test(codeOf(error) ?? '')
    ? invalidArchive('one of its rows is not what a site has', error)
    : error
}
