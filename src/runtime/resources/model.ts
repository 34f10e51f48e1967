import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'
import type { BucketConfig } from '#runtime/buckets/bucket-config.ts'
import { SiteName } from '#runtime/shape.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'

import type { FunctionConfig } from './function-config.ts'

/** Lists of a site's runtime are whole, so what they hold is bounded. */
export const MAX_RESOURCES = 500
/** Bounds the inline code of all functions of a site: it is compiled as one revision, as the scripts of a deployment are. */
export const MAX_INLINE_CODE_BYTES = 10 * 1024 * 1024

export const ResourceType = Type.Union([
  Type.Literal('ddbTable'),
  Type.Literal('s3Bucket'),
  Type.Literal('lambdaFunction'),
])
export type ResourceType = Static<typeof ResourceType>

export const NewResource = ClosedObject({
  type: ResourceType,
  name: SiteName,
  /** Checked by type in `config.ts`. */
  config: Type.Optional(Type.Unknown()),
})
export type NewResource = Static<typeof NewResource>

export const ResourcePatch = ClosedObject({
  name: Type.Optional(SiteName),
  config: Type.Optional(Type.Unknown()),
})
export type ResourcePatch = Static<typeof ResourcePatch>

export type TypedConfig =
  | { readonly type: 'ddbTable'; readonly config: TableConfig }
  | { readonly type: 's3Bucket'; readonly config: BucketConfig }
  | { readonly type: 'lambdaFunction'; readonly config: FunctionConfig }

/** Something that a site's operations depend on. */
export type Resource = TypedConfig & {
  readonly resourceId: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What others link to. */
export type ResourceName = Pick<Resource, 'resourceId' | 'name' | 'type'>

export type TableResource = Extract<Resource, { type: 'ddbTable' }>
export type BucketResource = Extract<Resource, { type: 's3Bucket' }>
export type FunctionResource = Extract<Resource, { type: 'lambdaFunction' }>
