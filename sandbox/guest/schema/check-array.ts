import { setAdd, SetClass, setHas } from '#sandbox/guest/web/primordials.ts'

import type { NodeChecker } from './check-schema.ts'
import { canonicalText, isComposite } from './json-equality.ts'
import type { PreparedNode } from './prepared-schema.ts'
import type { Place } from './schema-walk.ts'

export function checkArray(
  checker: NodeChecker,
  node: PreparedNode,
  list: readonly unknown[],
  place: Place | undefined,
): boolean {
  const { walk } = checker
  const { minItems, maxItems, uniqueItems } = node
  if (minItems !== undefined && list.length < minItems)
    return walk.fail(place, `must have at least ${items(minItems)}`)
  if (maxItems !== undefined && list.length > maxItems)
    return walk.fail(place, `must have at most ${items(maxItems)}`)
  const isValid = checkItems(checker, node, list, place)
  if (!isValid && walk.isSilent) return false
  const twin = uniqueItems ? firstTwin(list) : -1
  if (twin >= 0) return walk.fail({ key: twin, parent: place }, 'is there twice')
  return checkContained(checker, node, list, place) && isValid
}

function checkItems(
  checker: NodeChecker,
  node: PreparedNode,
  list: readonly unknown[],
  place: Place | undefined,
): boolean {
  const { walk } = checker
  let isValid = true
  for (let at = 0; at < list.length; at += 1) {
    const item = itemNode(node, at)
    if (item === undefined) break
    if (checker.check(item, list[at], { key: at, parent: place })) continue
    isValid = false
    if (walk.isSilent || walk.isOver) break
  }
  return isValid
}

/** The node of the item at an index; where there is none, later items have none either. */
function itemNode({ prefixItems, items: rest }: PreparedNode, at: number): number | undefined {
  return prefixItems && at < prefixItems.length ? prefixItems[at] : rest
}

function checkContained(
  checker: NodeChecker,
  { contains, minContains = 1, maxContains }: PreparedNode,
  list: readonly unknown[],
  place: Place | undefined,
): boolean {
  if (contains === undefined) return true
  const { walk } = checker
  let count = 0
  walk.silently(() => {
    for (let at = 0; at < list.length && !walk.tooDeep; at += 1)
      if (checker.check(contains, list[at], undefined)) count += 1
    return true
  })
  if (count < minContains)
    return walk.fail(place, `must have at least ${items(minContains)} as "contains" says`)
  if (maxContains !== undefined && count > maxContains)
    return walk.fail(place, `must have at most ${items(maxContains)} as "contains" says`)
  return true
}

/** The index of an item that is the same as one before it, or -1. */
function firstTwin(list: readonly unknown[]): number {
  const values = new SetClass<unknown>()
  const texts = new SetClass<unknown>()
  for (let at = 0; at < list.length; at += 1) {
    const seen = isComposite(list[at]) ? texts : values
    const key = seen === texts ? canonicalText(list[at]) : list[at]
    if (setHas(seen, key)) return at
    setAdd(seen, key)
  }
  return -1
}

const items = (count: number): string => (count === 1 ? '1 item' : `${count} items`)
