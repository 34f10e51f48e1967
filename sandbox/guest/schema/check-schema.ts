import { isArray, isInteger } from '#sandbox/guest/web/primordials.ts'
import type { JsonType, SchemaFault } from '#sandbox/protocol/compiled-schema.ts'

import { checkArray } from './check-array.ts'
import { checkNumber } from './check-number.ts'
import { checkObject } from './check-object.ts'
import { checkString } from './check-string.ts'
import { isComposite, isSameJson } from './json-equality.ts'
import type { PreparedNode, PreparedSchema } from './prepared-schema.ts'
import { type Place, SchemaWalk, shown } from './schema-walk.ts'

const NONE: readonly SchemaFault[] = []

/** Checks parts of a value against nodes of a schema. */
export interface NodeChecker {
  readonly walk: SchemaWalk
  /** Whether the value is what the node says. */
  check(node: number, value: unknown, place: Place | undefined): boolean
}

/** What of `value` is not as the schema says, the first places of it; `root` is the pointer of the value itself. */
export function schemaFaultsOf(
  schema: PreparedSchema,
  value: unknown,
  root: string,
): readonly SchemaFault[] {
  const checker = new Checker(schema, root)
  const isValid = checker.check(0, value, undefined)
  return isValid && !checker.walk.tooDeep ? NONE : checker.walk.faults
}

class Checker implements NodeChecker {
  readonly walk: SchemaWalk
  readonly #schema: PreparedSchema

  constructor(schema: PreparedSchema, root: string) {
    this.#schema = schema
    this.walk = new SchemaWalk(root)
  }

  check(index: number, value: unknown, place: Place | undefined): boolean {
    const { walk } = this
    if (walk.isOver) return false
    const isValid = walk.enter(place) && this.#checkNode(this.#schema[index], value, place)
    walk.leave()
    return isValid
  }

  #checkNode(node: PreparedNode | undefined, value: unknown, place: Place | undefined): boolean {
    const { walk } = this
    if (node === undefined || node.never) return walk.fail(place, 'is not allowed here')
    const fault = kindFault(node, value)
    if (fault !== undefined) return walk.fail(place, fault)
    const isValid = this.#checkValue(node, value, place)
    if (!isValid && walk.isSilent) return false
    return this.#checkCombined(node, value, place) && isValid
  }

  #checkValue(node: PreparedNode, value: unknown, place: Place | undefined): boolean {
    if (typeof value === 'string') return checkString(this.walk, node, value, place)
    if (typeof value === 'number') return checkNumber(this.walk, node, value, place)
    if (isArray(value)) return checkArray(this, node, value, place)
    if (!isComposite(value)) return true
    return checkObject(this, node, value as Readonly<Record<string, unknown>>, place)
  }

  #checkCombined(node: PreparedNode, value: unknown, place: Place | undefined): boolean {
    const areAll = !node.all || this.#checkAll(node.all, value, place)
    if (!areAll && this.walk.isSilent) return false
    const fault = this.#choiceFault(node, value)
    const isChosen = fault === undefined || this.walk.fail(place, fault)
    return this.#checkCondition(node, value, place) && areAll && isChosen
  }

  #checkAll(nodes: readonly number[], value: unknown, place: Place | undefined): boolean {
    let isValid = true
    for (let at = 0; at < nodes.length; at += 1) {
      if (!this.check(nodes[at] as number, value, place)) isValid = false
      if (!isValid && this.walk.isSilent) break
    }
    return isValid
  }

  #choiceFault({ anyOf, oneOf, not }: PreparedNode, value: unknown): string | undefined {
    if (anyOf && this.#count(anyOf, value, 1) < 1)
      return 'must be as one of the schemas of "anyOf" says'
    if (oneOf && this.#count(oneOf, value, 2) !== 1)
      return 'must be as exactly one of the schemas of "oneOf" says'
    if (not !== undefined && this.#holds(not, value))
      return 'must not be as the schema of "not" says'
    return undefined
  }

  #checkCondition(node: PreparedNode, value: unknown, place: Place | undefined): boolean {
    if (node.if === undefined) return true
    const next = this.#holds(node.if, value) ? node.then : node.else
    return next === undefined || this.check(next, value, place)
  }

  /** How many of the nodes hold, up to so many. */
  #count(nodes: readonly number[], value: unknown, upTo: number): number {
    let count = 0
    for (let at = 0; at < nodes.length && count < upTo; at += 1)
      if (this.#holds(nodes[at] as number, value)) count += 1
    return count
  }

  #holds(node: number, value: unknown): boolean {
    return this.walk.silently(() => this.check(node, value, undefined))
  }
}

function kindFault({ type, enum: list }: PreparedNode, value: unknown): string | undefined {
  if (type && !isOfTypes(type, value)) return typeMessage(type)
  return list && !isAmong(list, value) ? enumMessage(list) : undefined
}

function isOfTypes(types: readonly JsonType[], value: unknown): boolean {
  for (let at = 0; at < types.length; at += 1)
    if (isOfType(types[at] as JsonType, value)) return true
  return false
}

function isOfType(type: JsonType, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return isArray(value)
    case 'object':
      return isComposite(value) && !isArray(value)
    case 'integer':
      return isInteger(value)
    case 'boolean':
    case 'number':
    case 'string':
      return typeof value === type
  }
}

function isAmong(list: readonly unknown[], value: unknown): boolean {
  for (let at = 0; at < list.length; at += 1) if (isSameJson(list[at], value)) return true
  return false
}

const TYPE_NAMES: { readonly [Type in JsonType]: string } = {
  null: 'null',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
}

function typeMessage(types: readonly JsonType[]): string {
  let text = ''
  for (let at = 0; at < types.length; at += 1)
    text += (at === 0 ? '' : ' or ') + TYPE_NAMES[types[at] as JsonType]
  return `must be ${text}`
}

const enumMessage = (list: readonly unknown[]): string =>
  list.length === 1 ? `must be ${shown(list[0])}` : `must be one of ${shown(list)}`
