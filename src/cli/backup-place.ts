import { AT, PLACE, backupSettings } from './backup.ts'
import { columns } from './columns.ts'
import { type CliCommand, requiredOption } from './command.ts'
import { UsageError } from './errors.ts'

export const backupList: CliCommand = {
  name: 'backup list',
  summary: 'List the backups in a place, the newest last',
  options: [requiredOption('--from <place>', PLACE)],
  async run({ args }) {
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const { listBackups, readManifest } = await import('#platform/backup/manifest.ts')
    await using place = await openBackupPlace(args.required('from'), 'read', await backupSettings())
    const backups = []
    for (const id of await listBackups(place)) {
      const { manifest } = await readManifest(place, id)
      const { moment, croft, objects, sent, tables } = manifest
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      const bytes = tables.reduce((sum, table) => sum + table.bytes, objects.bytes)
      backups.push({
        id,
        moment,
        croft,
        rows,
        objects: objects.count,
        bytes,
        sentBytes: sent.bytes,
      })
    }
    const rows = backups.map((one) => Object.values(one).map(String))
    const head = ['id', 'moment', 'croft', 'rows', 'objects', 'bytes', 'sent']
    return {
      json: backups,
      text: rows.length === 0 ? 'No backup is there.' : columns([head, ...rows]),
    }
  },
}

export const backupVerify: CliCommand = {
  name: 'backup verify',
  summary: 'Verify every byte of a backup',
  options: [requiredOption('--from <place>', PLACE), AT],
  async run({ args, ...call }) {
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const { assertKeyFits, readManifest } = await import('#platform/backup/manifest.ts')
    const { findBackupKey } = await import('#platform/backup/open-installation.ts')
    const { verifyBackup } = await import('#platform/backup/verify-backup.ts')
    const settings = await backupSettings()
    await using place = await openBackupPlace(args.required('from'), 'read', settings)
    const backup = await readManifest(place, args.text('at'))
    // Away from the installation there is no key, and the rest can be verified there, too.
    const key = await findBackupKey(settings)
    if (key !== undefined) assertKeyFits(backup, key)
    const faults = await verifyBackup(place, backup.manifest, (line) => call.progress(line))
    const { id, moment } = backup.manifest
    const isSigned = key !== undefined
    return {
      json: { id, moment, isSigned, faults },
      text: `Backup ${id} of ${moment} ${verdictOf(faults, isSigned)}`,
      failed: faults.length > 0,
    }
  },
}

export const backupPrune: CliCommand = {
  name: 'backup prune',
  summary: 'Delete all but the newest backups of a place, and their unused parts',
  options: [
    requiredOption('--from <place>', PLACE),
    requiredOption('--keep <count>', 'how many stay, 1 at least'),
  ],
  async run({ args, ...call }) {
    const keep = Number(args.required('keep'))
    if (!Number.isSafeInteger(keep) || keep < 1) {
      throw new UsageError('--keep is a whole number from 1 on')
    }
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const { pruneBackups } = await import('#platform/backup/prune-backups.ts')
    const settings = await backupSettings()
    await using place = await openBackupPlace(args.required('from'), 'write', settings)
    const pruned = await pruneBackups(place, keep, (line) => call.progress(line))
    const { deleted, left, chunks } = pruned
    return {
      json: pruned,
      text: `Deleted ${deleted.length} of ${deleted.length + left.length} backups, with the ${chunks} parts that only those had.`,
    }
  },
}

function verdictOf(faults: readonly string[], isSigned: boolean): string {
  if (faults.length > 0) return `is damaged:\n${faults.map((fault) => `  ${fault}`).join('\n')}`
  return isSigned
    ? 'is whole, and signed with the master key.'
    : 'is whole. There is no master key here to check its signature with.'
}
