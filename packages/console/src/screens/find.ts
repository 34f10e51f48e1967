import { registerFind } from '#app/shell/find-providers.ts'

import { findAdmins } from './people/find-admins.ts'

/** What the palette finds beside screens. It is loaded with the palette. */
export function registerFinders(): void {
  registerFind(findAdmins)
}
