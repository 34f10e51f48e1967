import { setImmediate } from 'node:timers/promises'

import type { ActionAnswer } from './actions/action.ts'
import type { ItemPage } from './actions/page-request.ts'
import type { StoredPage } from './store/table-store.ts'

/** Items that are filtered in one stretch. */
const SLICE = 500

/** The answer to a page, whose filter lets others in between: a page may hold ten thousand items. */
export async function slicedAnswer(
  answer: ItemPage['answer'],
  { items, full }: StoredPage,
): Promise<ActionAnswer> {
  if (items.length <= SLICE) return answer({ items, full })
  const parts: ActionAnswer[] = []
  let at = 0
  for (; at + SLICE < items.length; at += SLICE) {
    parts.push(answer({ items: items.slice(at, at + SLICE), full: false }))
    await setImmediate()
  }
  // Only the last one tells where the page ended.
  const last = answer({ items: items.slice(at), full })
  return joined([...parts, last], last)
}

const joined = (parts: readonly ActionAnswer[], last: ActionAnswer): ActionAnswer => ({
  ...last,
  ...(last['Items'] !== undefined && { Items: parts.flatMap((part) => part['Items']) }),
  Count: sumOf(parts, 'Count'),
  ScannedCount: sumOf(parts, 'ScannedCount'),
})

const sumOf = (parts: readonly ActionAnswer[], name: 'Count' | 'ScannedCount'): number =>
  parts.reduce((sum, part) => sum + Number(part[name]), 0)
