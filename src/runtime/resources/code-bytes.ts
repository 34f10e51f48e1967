import { invalid } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { MAX_INLINE_CODE_BYTES } from './model.ts'
import { selectCodeBytes } from './queries.ts'

/** 400 when the functions of the site hold too much code, without those of `toDelete`. */
export async function checkCodeBytes(tx: SiteTx, toDelete: ReadonlySet<string>): Promise<void> {
  const bytes = await selectCodeBytes(tx, toDelete)
  if (bytes <= MAX_INLINE_CODE_BYTES) return
  throw invalid(
    'config.code',
    `the functions of a site hold at most ${MAX_INLINE_CODE_BYTES} bytes of inline code together, and with this they would hold ${bytes}: deploy code as files and name those in "artifact"`,
  )
}
