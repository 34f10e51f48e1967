import { hasOwn, objectKeys, testPattern } from '#sandbox/guest/web/primordials.ts'

import type { NodeChecker } from './check-schema.ts'
import type { PreparedNode } from './prepared-schema.ts'
import { type Place, shown } from './schema-walk.ts'

type JsonObject = Readonly<Record<string, unknown>>
type PropertyPlace = Place & { readonly key: string }

export function checkObject(
  checker: NodeChecker,
  node: PreparedNode,
  object: JsonObject,
  place: Place | undefined,
): boolean {
  const names = objectKeys(object)
  const isSized = checkSize(checker, node, names.length, place)
  const isWhole = checkNeeded(checker, node, object, place)
  if (!(isSized && isWhole) && checker.walk.isSilent) return false
  let isValid = isSized && isWhole
  for (let at = 0; at < names.length; at += 1) {
    if (checkProperty(checker, node, object, { key: names[at] as string, parent: place })) continue
    isValid = false
    if (checker.walk.isSilent || checker.walk.isOver) return false
  }
  return checkDependents(checker, node, object, place) && isValid
}

function checkSize(
  { walk }: NodeChecker,
  { minProperties, maxProperties }: PreparedNode,
  size: number,
  place: Place | undefined,
): boolean {
  if (minProperties !== undefined && size < minProperties)
    return walk.fail(place, `must have at least ${properties(minProperties)}`)
  if (maxProperties !== undefined && size > maxProperties)
    return walk.fail(place, `must have at most ${properties(maxProperties)}`)
  return true
}

function checkNeeded(
  checker: NodeChecker,
  { required, dependentRequired }: PreparedNode,
  object: JsonObject,
  place: Place | undefined,
): boolean {
  let isValid = !required || hasAll(checker, required, object, place)
  for (let at = 0; dependentRequired && at < dependentRequired.length; at += 1) {
    const entry = dependentRequired[at] as readonly [string, readonly string[]]
    if (hasOwn(object, entry[0]) && !hasAll(checker, entry[1], object, place)) isValid = false
  }
  return isValid
}

function hasAll(
  { walk }: NodeChecker,
  names: readonly string[],
  object: JsonObject,
  place: Place | undefined,
): boolean {
  let isValid = true
  for (let at = 0; at < names.length; at += 1) {
    if (hasOwn(object, names[at] as string)) continue
    isValid = walk.fail(place, `must have the property ${shown(names[at])}`)
    if (walk.isSilent) return false
  }
  return isValid
}

function checkProperty(
  checker: NodeChecker,
  node: PreparedNode,
  object: JsonObject,
  place: PropertyPlace,
): boolean {
  const { named, propertyNames, additionalProperties } = node
  const { key } = place
  const value = object[key]
  const own = named?.[key]
  let isValid = propertyNames === undefined || checker.check(propertyNames, key, place)
  if (own !== undefined && !checker.check(own, value, place)) isValid = false
  const matched = checkPatterned(checker, node, value, place)
  if (matched === 'invalid') isValid = false
  if (own !== undefined || matched !== 'none' || additionalProperties === undefined) return isValid
  return checker.check(additionalProperties, value, place) && isValid
}

/** Checks a property against those of `patternProperties` whose pattern its name matches. */
function checkPatterned(
  checker: NodeChecker,
  { patterned }: PreparedNode,
  value: unknown,
  place: PropertyPlace,
): 'none' | 'valid' | 'invalid' {
  let matched: 'none' | 'valid' | 'invalid' = 'none'
  for (let at = 0; patterned && at < patterned.length; at += 1) {
    const entry = patterned[at]
    if (!entry || !testPattern(entry.pattern, place.key)) continue
    if (!checker.check(entry.node, value, place)) matched = 'invalid'
    else if (matched === 'none') matched = 'valid'
  }
  return matched
}

function checkDependents(
  checker: NodeChecker,
  { dependentSchemas }: PreparedNode,
  object: JsonObject,
  place: Place | undefined,
): boolean {
  let isValid = true
  for (let at = 0; dependentSchemas && at < dependentSchemas.length; at += 1) {
    const entry = dependentSchemas[at] as readonly [string, number]
    if (hasOwn(object, entry[0]) && !checker.check(entry[1], object, place)) isValid = false
  }
  return isValid
}

const properties = (count: number): string => (count === 1 ? '1 property' : `${count} properties`)
