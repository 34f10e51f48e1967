import { loadConfig } from '#config/load.ts'
import { SetupError } from '#config/setup-error.ts'

import type { CliCommand } from './command.ts'
import { CommandError } from './errors.ts'

export const migrateCommand: CliCommand = {
  name: 'migrate',
  summary: 'Migrate the database of DATABASE_URL before a new version starts',
  options: [],
  async run(call) {
    const { secrets } = loadConfig(process.env)
    if (secrets.databaseUrl === undefined) {
      throw new SetupError(
        'DATABASE_URL is not set: the embedded database is brought up to date by "croft serve" itself',
      )
    }
    call.progress('Migrating…')
    // A static import would make every other command load the database's client, too.
    const { createLogger } = await import('#platform/log/create-logger.ts')
    const { migrateDatabase } = await import('#platform/migrate-database.ts')
    const log = createLogger({ logLevel: 'warn' }, process.stderr)
    const applied = await migrateDatabase({ url: secrets.databaseUrl, log }).catch(explained)
    return {
      json: { applied },
      text: applied.length === 0 ? 'Nothing to do.' : `Applied ${applied.join(', ')}.`,
    }
  },
}

/** The client's own errors say what is wrong, and never the URL. */
function explained(error: unknown): never {
  if (error instanceof SetupError || !(error instanceof Error)) throw error
  throw new CommandError(`The database of DATABASE_URL cannot be migrated: ${error.message}`, {
    cause: error,
  })
}
