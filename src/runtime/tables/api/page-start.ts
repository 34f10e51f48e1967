import { invalid } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import type { JsonObject } from '#base/json-object.ts'
import type { PageTokens } from '#base/page.ts'
import type { Table } from '#runtime/tables/table.ts'

/** The fields of a query or scan that say where its page starts and ends. */
export interface PageStart {
  readonly nextToken?: string
  readonly exclusiveStartKey?: JsonObject
  readonly limit?: number
}

/**
 * Opens the `nextToken` of a query or scan: `from` has the key after which the page starts. `scope` is all that a token is
 * bound to: site, table, action, and every field but `limit`.
 */
export function pageStart<Fields extends PageStart>(
  { siteId, tableId }: Table,
  action: 'query' | 'scan',
  fields: Fields,
  tokens: PageTokens,
): { readonly from: Fields; readonly scope: readonly string[] } {
  const { nextToken, exclusiveStartKey, limit: _limit, ...filters } = fields
  if (nextToken !== undefined && exclusiveStartKey !== undefined) {
    throw invalid('nextToken', 'says where to start, and so does "exclusiveStartKey": send one')
  }
  const scope = [siteId, 'table', tableId, action, canonicalJson(filters)]
  if (nextToken === undefined) return { from: fields, scope }
  // Only what `seal` wrote opens.
  const startKey = JSON.parse(tokens.open(scope, nextToken)) as JsonObject
  return { from: { ...fields, exclusiveStartKey: startKey }, scope }
}
