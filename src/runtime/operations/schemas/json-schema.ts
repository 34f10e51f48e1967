import type { SchemaCheck } from '#platform/sandbox-host/sandbox.ts'

/** A JSON Schema (2020-12) of those that operations may have, as its site wrote it. */
export type OperationSchema = boolean | { readonly [keyword: string]: unknown }

/** As JSON in UTF-8. */
export const MAX_SCHEMA_BYTES = 32 * 1024
/** Of all operations of a site together. */
export const MAX_SITE_SCHEMA_BYTES = 1024 * 1024
/** Schemas in a schema, it included. */
export const MAX_SUBSCHEMAS = 500
/** Schemas inside of each other. */
export const MAX_SCHEMA_DEPTH = 32
/** Schemas that one value is checked against, each because of the one before it. */
export const MAX_SCHEMA_CHAIN = 64
export const MAX_PATTERN_LENGTH = 256
export const MAX_DEFINITION_FAULTS = 20

/** A schema in a revision, with what calls are checked against. */
export interface CheckedSchema {
  readonly schema: OperationSchema
  readonly check: SchemaCheck
}

export const schemaBytes = (schema: OperationSchema | null): number =>
  schema === null ? 0 : Buffer.byteLength(JSON.stringify(schema))
