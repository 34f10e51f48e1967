import { invalid } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import type { PageTokens } from '#base/page.ts'
import type { Table } from '#runtime/tables/table.ts'

import type { RequestFields } from './request-fields.ts'

/** A query or scan, apart from where it starts. */
export interface PageRequest {
  readonly request: RequestFields
  /** All that a token is bound to: site, table, action, and every field but `limit`. */
  readonly scope: readonly string[]
  /** The key after which it starts. */
  readonly startKey: unknown
}

/** Takes the start out of the fields of a query or scan: `exclusiveStartKey`, or what `nextToken` holds. */
export function pageRequest(
  { siteId, tableId }: Table,
  action: 'query' | 'scan',
  { nextToken, exclusiveStartKey, ...request }: RequestFields,
  tokens: PageTokens,
): PageRequest {
  if (nextToken !== undefined && exclusiveStartKey !== undefined) {
    throw invalid('nextToken', 'says where to start, and so does "exclusiveStartKey": send one')
  }
  const { limit: _limit, ...filters } = request
  const scope = [siteId, 'table', tableId, action, canonicalJson(filters)]
  if (typeof nextToken !== 'string') return { request, scope, startKey: exclusiveStartKey }
  // Only what `seal` wrote opens.
  return { request, scope, startKey: JSON.parse(tokens.open(scope, nextToken)) }
}
