import { loadBackupEnv } from '#config/backup-env.ts'
import { loadConfig } from '#config/load.ts'
import { programVersion } from '#config/program-version.ts'

import { columns } from './columns.ts'
import { type CliCommand, requiredOption, textOption } from './command.ts'

export const PLACE = 'a folder, or s3://bucket/prefix'
const AT = textOption('--at <id>', 'the backup of that id; else the newest')

export const backupCreate: CliCommand = {
  name: 'backup create',
  isDefault: true,
  summary: 'Back up all sites, also while the service runs; "create" may be left out',
  options: [requiredOption('--to <place>', PLACE)],
  async run({ args, ...call }) {
    // A static import would make every other command load the database's client, too.
    const { backUp } = await import('#platform/backup/back-up.ts')
    const { openForBackup } = await import('#platform/backup/open-installation.ts')
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const settings = await backupSettings()
    await using place = await openBackupPlace(args.required('to'), 'write', settings)
    await using installation = await openForBackup(settings)
    const croft = await programVersion()
    const { id, moment, sent, objects, tables } = await backUp({
      ...installation,
      place,
      croft,
      say: (line) => call.progress(line),
    })
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    return {
      json: { id, moment, rows, objects: objects.count, sent },
      text:
        `Backup ${id} has everything that was acknowledged before ${moment}: ${rows} rows, ${objects.count} objects; ` +
        `${sent.bytes} bytes were sent. It opens only with the master key, which is not in it.`,
    }
  },
}

export const backupList: CliCommand = {
  name: 'backup list',
  summary: 'The backups in a place, the newest last',
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
  summary: 'Read a backup to its last byte, and say what is not as it was written',
  options: [requiredOption('--from <place>', PLACE), AT],
  async run({ args, ...call }) {
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const { readManifest } = await import('#platform/backup/manifest.ts')
    const { verifyBackup } = await import('#platform/backup/verify-backup.ts')
    await using place = await openBackupPlace(args.required('from'), 'read', await backupSettings())
    const { manifest } = await readManifest(place, args.text('at'))
    const faults = await verifyBackup(place, manifest, (line) => call.progress(line))
    const { id, moment } = manifest
    return {
      json: { id, moment, faults },
      text:
        faults.length === 0
          ? `Backup ${id} of ${moment} is whole.`
          : `Backup ${id} of ${moment} is damaged:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
      failed: faults.length > 0,
    }
  },
}

/** The environment is that of the service. */
export async function backupSettings() {
  const { createLogger } = await import('#platform/log/create-logger.ts')
  const log = createLogger({ logLevel: 'warn' }, process.stderr)
  return { ...loadConfig(process.env), env: loadBackupEnv(process.env), log, logger: log }
}
