import { AppError } from '#base/app-error.ts'
import { codeOf } from '#base/error-code.ts'
import { loadBackupEnv } from '#config/backup-env.ts'
import { loadConfig } from '#config/load.ts'
import { programVersion } from '#config/program-version.ts'

import { type CliCommand, requiredOption, textOption } from './command.ts'
import { CommandError } from './errors.ts'

export const PLACE = 'a folder, or s3://bucket/prefix'
export const AT = textOption('--at <id>', 'the backup of that id; else the newest')

export const backupCreate: CliCommand = {
  name: 'backup create',
  isDefault: true,
  summary: 'Back up all sites, even while the service runs; "create" may be left out',
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
    }).catch(explained)
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    return {
      json: { id, moment, rows, objects: objects.count, sent },
      text:
        `Backup ${id} has everything that was acknowledged before ${moment}: ${rows} rows, ${objects.count} objects; ` +
        `${sent.bytes} bytes were sent. It opens only with the master key, which is not in it.`,
    }
  },
}

/** The environment is that of the service. */
export async function backupSettings() {
  const { createLogger } = await import('#platform/log/create-logger.ts')
  const log = createLogger({ logLevel: 'warn' }, process.stderr)
  return { ...loadConfig(process.env), env: loadBackupEnv(process.env), log, logger: log }
}

/** What a database, a disk or a network says of itself, and what to do then. */
export function explained(error: unknown): never {
  if (!(error instanceof Error) || codeOf(error) === undefined) throw error
  if (error instanceof AppError) throw error
  throw new CommandError(
    `It was not finished: ${error.message} (${codeOf(error)}). Run it again: what is written already is not written again`,
    { cause: error },
  )
}
