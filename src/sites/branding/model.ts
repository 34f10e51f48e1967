import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'
import { PictureText } from '#base/picture.ts'

const Color = Type.String({
  maxLength: 7,
  pattern: '^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$',
  fault: 'must be a color like "#0a7d55"',
})

/** What is left out stays; null takes away. */
export const SiteBrandingChange = ClosedObject(
  {
    color: Type.Optional(Type.Union([Color, Type.Null()])),
    logo: Type.Optional(Type.Union([PictureText, Type.Null()])),
  },
  { minProperties: 1 },
)
export type SiteBrandingChange = Static<typeof SiteBrandingChange>

/** `#abc` as `#aabbcc`. */
export const parseColor = (color: string): string => {
  const digits = color.slice(1).toLowerCase()
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`
}
