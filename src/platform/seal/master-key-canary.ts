import { SetupError } from '#config/setup-error.ts'
import type { SqlClient } from '#platform/postgres/client.ts'

import { decrypt, encrypt } from './aes-gcm.ts'
import type { Sealer } from './sealer.ts'

const NAME = 'master-key-canary'
const WORDS = Buffer.from('This database and this master key belong together')

/** Seals a canary into a new database, and refuses to start on one that was sealed with another master key. */
export async function assertMasterKey(
  sql: SqlClient,
  sealer: Pick<Sealer, 'derive'>,
): Promise<void> {
  const key = sealer.derive(NAME)
  const canary = JSON.stringify({ sealed: encrypt(key, NAME, WORDS).toString('base64') })
  // Replicas that start at once all come here; the first one's canary stays.
  await sql`insert into instance (name, value) values (${NAME}, ${canary}) on conflict do nothing`
  const [row] = await sql<{ sealed: string }[]>`
    select value ->> 'sealed' as sealed from instance where name = ${NAME}`
  const opened = row && decrypt(key, NAME, Buffer.from(row.sealed, 'base64'))
  if (opened?.equals(WORDS)) return
  throw new SetupError(
    'CROFT_MASTER_KEY is not the key that sealed the secrets in this database: set the one of its first start ' +
      '(that installation keeps a generated one in its data folder, in the file "master.key")',
  )
}
