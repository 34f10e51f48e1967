import { SetupError } from '#config/setup-error.ts'
import type { SqlClient } from '#platform/postgres/client.ts'

import { decrypt, encrypt } from './aes-gcm.ts'
import { insertCanary, selectCanary } from './queries.ts'
import type { Sealer } from './sealer.ts'

const NAME = 'master-key-canary'
const WORDS = Buffer.from('This database and this master key belong together')

/** Seals a canary into a new database, and refuses to start on one that was sealed with another master key. */
export async function assertMasterKey(
  sql: SqlClient,
  sealer: Pick<Sealer, 'derive'>,
): Promise<void> {
  const key = sealer.derive(NAME)
  await insertCanary(sql, NAME, encrypt(key, NAME, WORDS).toString('base64'))
  const sealed = await selectCanary(sql, NAME)
  const opened =
    sealed === undefined ? undefined : decrypt(key, NAME, Buffer.from(sealed, 'base64'))
  if (opened?.equals(WORDS)) return
  throw new SetupError(
    'CROFT_MASTER_KEY is not the key that sealed the secrets in this database: set the one of its first start ' +
      '(that installation keeps a generated one in its data folder, in the file "master.key")',
  )
}
