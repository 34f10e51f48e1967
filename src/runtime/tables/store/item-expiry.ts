import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'

/** DynamoDB takes an older time for a mistake, and keeps the item. */
const OLDEST_SECONDS = 5 * 365 * 24 * 3600

/** When an item ends, in whole seconds since 1970; null when it does not. */
export function itemExpiry(
  item: Item,
  ttlAttribute: string | undefined,
  nowSeconds: number,
): number | null {
  const value = ttlAttribute === undefined ? undefined : attributeOf(item, ttlAttribute)
  if (value === undefined || !('N' in value)) return null
  const seconds = Math.floor(Number(value.N))
  return seconds > nowSeconds - OLDEST_SECONDS && Number.isSafeInteger(seconds) ? seconds : null
}
