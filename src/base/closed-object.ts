import { type ObjectOptions, type TObject, type TProperties, Type } from '@sinclair/typebox'

/** An object that is refused with any field but these. */
export const ClosedObject = <Properties extends TProperties>(
  properties: Properties,
  options?: ObjectOptions,
): TObject<Properties> => Type.Object(properties, { ...options, additionalProperties: false })
