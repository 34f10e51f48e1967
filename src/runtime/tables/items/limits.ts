import { invalidRequest } from '#runtime/tables/fault.ts'

/** An attribute of an item is level 1; what a map or list holds is one level deeper than it. */
const MAX_LEVELS = 32

export function checkLevel(level: number): void {
  if (level > MAX_LEVELS) {
    throw invalidRequest(
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
    )
  }
}
