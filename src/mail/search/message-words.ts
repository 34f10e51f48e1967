import type { SiteTx } from '#platform/postgres/database.ts'

import type { SearchTerm } from './parse-search.ts'
import { setSearch } from './queries.ts'

/**
 * Lets the transaction see the words of messages that match, in these mailboxes or all of the site: the policy of
 * `mail_search` reads the query from there.
 */
export const searchWords = (
  tx: SiteTx,
  terms: readonly SearchTerm[],
  mailboxIds: readonly string[] | undefined,
): Promise<void> => setSearch(tx, terms, mailboxIds)
