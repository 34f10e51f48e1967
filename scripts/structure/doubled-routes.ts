/** A row of `test/http/route-table.md`. */
export interface TableRoute {
  readonly method: string
  readonly path: string
  /** Whether one declaration is mounted for admins of a site and for the operator. */
  readonly isShared: boolean
}

const OPERATORS = /^\/portal\/api\/sites\/:siteId(?=\/)/
const ADMINS = /^\/admin\/(?:api|data)(?=\/)/
/** What the operator's routes call otherwise. */
const SYNONYMS: readonly [RegExp, string][] = [[/^\/admin-users\b/, '/users']]

/** The routes in the rows of `test/http/route-table.md`. */
export const tableRoutes = (markdown: string): TableRoute[] =>
  [...markdown.matchAll(/^\| `(?<method>[A-Z]+) (?<path>[^`]+)` \|(?<cells>.*)\|$/gm)].map(
    ({ groups }) => ({
      method: groups?.['method'] ?? '',
      path: groups?.['path'] ?? '',
      isShared: (groups?.['cells'] ?? '').split('|').some((cell) => cell.trim() === 'both'),
    }),
  )

/** The operator's routes for one site that admins of the site have too, by method and path, with a declaration of their own. */
export function doubledRoutes(routes: readonly TableRoute[]): TableRoute[] {
  const admins = new Set(routes.filter(({ path }) => ADMINS.test(path)).map(likenessOf))
  return routes.filter(
    (route) => OPERATORS.test(route.path) && !route.isShared && admins.has(likenessOf(route)),
  )
}

/** The same for two routes that do the same, by their method and path. */
function likenessOf({ method, path }: TableRoute): string {
  const below = path.replace(OPERATORS, '').replace(ADMINS, '').replaceAll(/:\w+/g, ':')
  const name = SYNONYMS.reduce((text, [synonym, usual]) => text.replace(synonym, usual), below)
  return `${method} ${name}`
}
