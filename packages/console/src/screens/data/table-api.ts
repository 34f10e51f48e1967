import { api } from '#app/api/api.ts'

import { CroftError } from '../../../../sdk/error.ts'
import type { Item } from './exact-json.ts'
import type { ReadRequest } from './read-request.ts'
import { type KeySchema, keyOf } from './table-shape.ts'

/** What one call of batch-write takes. */
const BATCH_SIZE = 25

interface ItemPage {
  readonly items: readonly Item[]
  readonly scannedCount: number
  readonly nextToken: string | null
}

interface PageOptions {
  readonly limit: number
  readonly nextToken: string | null
  readonly signal?: AbortSignal
}

/** One page of what a request reads. */
export const readPage = (
  resourceId: string,
  { action, body }: ReadRequest,
  { limit, nextToken, signal }: PageOptions,
): Promise<ItemPage> =>
  api.post(`/admin/data/resources/{resourceId}/data/ddb/${action}`, {
    params: { resourceId },
    body: { ...body, limit, ...(nextToken !== null && { nextToken }) },
    ...(signal && { signal }),
  })

/** The item as it is now, or null. */
export async function getItem(resourceId: string, key: Item): Promise<Item | null> {
  const { item } = await api.post('/admin/data/resources/{resourceId}/data/ddb/get', {
    params: { resourceId },
    body: { key, consistentRead: true },
  })
  return item
}

/** Resolves with the item after the update. */
export async function updateItem(resourceId: string, request: object): Promise<Item> {
  const { attributes } = await api.post('/admin/data/resources/{resourceId}/data/ddb/update', {
    params: { resourceId },
    body: { ...request, returnValues: 'ALL_NEW' },
  })
  return attributes ?? {}
}

export const putItem = (resourceId: string, request: object): Promise<unknown> =>
  api.post('/admin/data/resources/{resourceId}/data/ddb/put', {
    params: { resourceId },
    body: request,
  })

/** Deletes items by their keys, in pieces. */
export async function deleteItems(
  resourceId: string,
  schema: KeySchema,
  items: readonly Item[],
): Promise<void> {
  const keys = items.map((item) => keyOf(schema, item))
  for (let at = 0; at < keys.length; at += BATCH_SIZE) {
    await api.post('/admin/data/resources/{resourceId}/data/ddb/batch-write', {
      params: { resourceId },
      body: { deletes: keys.slice(at, at + BATCH_SIZE) },
    })
  }
}

/** Whether the condition of a write did not hold: the item is another than the one on show. */
export const isConditionFailed = (error: unknown): boolean =>
  error instanceof CroftError && error.code === 'ConditionalCheckFailed'

/** An error at a field of a form, as the API would give it. */
export const fieldError = (field: string, message: string): CroftError =>
  new CroftError(message, { code: 'ValidationError', status: 400, details: [{ field, message }] })
