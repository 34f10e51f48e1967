import { SCREENS, type Screen } from '#app/screens.ts'

import { type PathParams, matchPath } from './route-match.ts'

/** The screen of a path, with the values of the names in it. */
export function screenAt(
  path: string,
): { readonly screen: Screen; readonly params: PathParams } | undefined {
  for (const screen of SCREENS) {
    const params = matchPath(screen.path, path)
    if (params) return { screen, params }
  }
  return undefined
}
