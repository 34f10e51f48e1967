import { Buffer } from 'node:buffer'

import { validationError } from '#runtime/tables/validation-error.ts'

/** An attribute of an item is level 1; what a map or list holds is one level deeper than it. */
const MAX_LEVELS = 32
const MAX_NAME_BYTES = 65_535
/** What a UTF-16 unit takes in UTF-8 at most. */
const MAX_UNIT_BYTES = 3

export function checkLevel(level: number): void {
  if (level > MAX_LEVELS) {
    throw validationError(
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
    )
  }
}

/** Refuses a name that is too long, for an attribute at any level. */
export function checkAttributeName(name: string): void {
  if (name.length * MAX_UNIT_BYTES <= MAX_NAME_BYTES) return
  if (Buffer.byteLength(name, 'utf8') <= MAX_NAME_BYTES) return
  throw validationError(
    '1 validation error detected: Attribute name is too large, must be less than 65536 bytes',
  )
}
