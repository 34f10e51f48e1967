/**
 * A JSON Schema (2020-12) as the check of a call walks it: every schema in it is one node, which names others by index. The
 * first is the whole. The service has made sure that no chain of nodes comes back to the same value.
 */
export type CompiledSchema = readonly SchemaNode[]

/** The same in the isolate, and in the document of a revision: JSON. Each field is the keyword that it is named for. */
export interface SchemaNode {
  /** The schema `false`. */
  readonly never?: true
  readonly type?: readonly JsonType[]
  /** Also of `const`. */
  readonly enum?: readonly unknown[]
  readonly multipleOf?: number
  readonly maximum?: number
  readonly exclusiveMaximum?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly format?: SchemaFormat
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: true
  readonly prefixItems?: readonly number[]
  readonly items?: number
  readonly contains?: number
  readonly minContains?: number
  readonly maxContains?: number
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly dependentRequired?: readonly (readonly [name: string, needed: readonly string[]])[]
  readonly properties?: readonly (readonly [name: string, node: number])[]
  readonly patternProperties?: readonly (readonly [pattern: string, node: number])[]
  readonly additionalProperties?: number
  readonly propertyNames?: number
  readonly dependentSchemas?: readonly (readonly [name: string, node: number])[]
  /** Of `$ref` and `allOf`. */
  readonly all?: readonly number[]
  readonly anyOf?: readonly number[]
  readonly oneOf?: readonly number[]
  readonly not?: number
  readonly if?: number
  readonly then?: number
  readonly else?: number
}

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

export type SchemaFormat = 'date' | 'date-time' | 'email' | 'time' | 'uri' | 'uuid'

/** What the calls of one operation are checked against. */
export interface OperationSchemas {
  readonly input?: CompiledSchema
  readonly output?: CompiledSchema
}

/** What a payload is refused for, at most so many places of it: JSON of a list of `SchemaFault`. */
export const MAX_SCHEMA_FAULTS = 20
/** A JSON Pointer (RFC 6901) below the payload, and what is expected there. */
export type SchemaFault = readonly [pointer: string, message: string]
/** In UTF-16 units. */
export const MAX_POINTER_LENGTH = 300
export const MAX_FAULT_MESSAGE_LENGTH = 300
