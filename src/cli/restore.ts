import { AT, PLACE, backupSettings, explained } from './backup.ts'
import { type CliCommand, requiredOption } from './command.ts'

export const restore: CliCommand = {
  name: 'restore',
  summary: 'Restore a backup into an empty installation',
  options: [requiredOption('--from <place>', PLACE), AT],
  async run({ args, ...call }) {
    // A static import would make every other command load the database's client, too.
    const { readManifest } = await import('#platform/backup/manifest.ts')
    const { openForRestore } = await import('#platform/backup/open-installation.ts')
    const { openBackupPlace } = await import('#platform/backup/open-place.ts')
    const { restoreBackup } = await import('#platform/backup/restore-backup.ts')
    const settings = await backupSettings()
    await using place = await openBackupPlace(args.required('from'), 'read', settings)
    const backup = await readManifest(place, args.text('at'))
    await using installation = await openForRestore(settings)
    const say = (line: string) => call.progress(line)
    await restoreBackup({ ...installation, place, log: settings.log, say }, backup).catch(explained)
    const { id, moment } = backup.manifest
    return {
      json: { id, moment },
      text: `This installation is what the other was at ${moment} (backup ${id}). Start it with "croft serve".`,
    }
  },
}
