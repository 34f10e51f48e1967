import { SetupError } from '#config/setup-error.ts'

import { createClient } from './client.ts'

const OLDEST = 150_000

/** Connects once, so that a wrong `DATABASE_URL` ends the start with a sentence that says what is wrong with it. */
export async function assertUsable(url: string): Promise<void> {
  const sql = createClient({ url, max: 1 })
  try {
    const [row] = await sql<{ version: number; name: string }[]>`
      select current_setting('server_version_num')::int as version,
             current_setting('server_version') as name`
    if (row && row.version < OLDEST) {
      throw new SetupError(
        `DATABASE_URL: the server at "${place(url)}" is PostgreSQL ${row.name}; Croft needs 15 or newer`,
      )
    }
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw new SetupError(
      `DATABASE_URL: no connection to "${place(url)}": ${reason(error)}. ` +
        'Check host, port, user, password and database, as in postgres://croft:secret@127.0.0.1:5432/croft',
      { cause: error },
    )
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Host, port and database: never the password. */
function place(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

const reason = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
