import { type CallExpression, type Expression, type NewExpression, Visitor } from 'oxc-parser'

/** A route that a file declares with a literal path, below the literal prefix of its `new Elysia`. */
export interface DeclaredRoute {
  readonly method: string
  readonly path: string
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])
const OPERATORS = /^\/portal\/api\/sites\/:siteId(?=\/)/
const ADMINS = /^\/admin\/(?:api|data)(?=\/)/
/** What the operator's routes call otherwise. */
const SYNONYMS: readonly [RegExp, string][] = [[/^\/admin-users\b/, '/users']]

export function declaredRoutes(program: Parameters<Visitor['visit']>[0]): DeclaredRoute[] {
  const routes: DeclaredRoute[] = []
  new Visitor({
    CallExpression(call) {
      const route = routeOf(call)
      if (route !== undefined) routes.push(route)
    },
  }).visit(program)
  return routes
}

/** The routes in the rows of `test/http/route-table.md`. */
export const tableRoutes = (markdown: string): DeclaredRoute[] =>
  [...markdown.matchAll(/^\| `(?<method>[A-Z]+) (?<path>[^`]+)`/gm)].map(({ groups }) => ({
    method: groups?.['method'] ?? '',
    path: groups?.['path'] ?? '',
  }))

/** The declarations of the operator's routes for one site that admins of the site have too, by method and path. */
export function doubledRoutes(
  declared: readonly DeclaredRoute[],
  mounted: readonly DeclaredRoute[],
): DeclaredRoute[] {
  const admins = new Set(mounted.filter(({ path }) => ADMINS.test(path)).map(likenessOf))
  return declared.filter((route) => OPERATORS.test(route.path) && admins.has(likenessOf(route)))
}

/** The same for two routes that do the same, by their method and path. */
function likenessOf({ method, path }: DeclaredRoute): string {
  const below = path.replace(OPERATORS, '').replace(ADMINS, '').replaceAll(/:\w+/g, ':')
  const name = SYNONYMS.reduce((text, [synonym, usual]) => text.replace(synonym, usual), below)
  return `${method} ${name}`
}

function routeOf({ callee, arguments: [path] }: CallExpression): DeclaredRoute | undefined {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined
  if (!METHODS.has(callee.property.name) || path === undefined) return undefined
  const [prefix, below] = [prefixOf(rootOf(callee.object)), literalOf(path)]
  if (prefix === undefined || below === undefined) return undefined
  return {
    method: callee.property.name.toUpperCase(),
    path: `${prefix}${below}`.replace(/(?<=.)\/$/, ''),
  }
}

/** What a chain of calls begins with. */
function rootOf(expression: Expression): Expression {
  if (expression.type !== 'CallExpression' || expression.callee.type !== 'MemberExpression') {
    return expression
  }
  return rootOf(expression.callee.object)
}

/** The prefix of a `new Elysia`; undefined for anything else. */
function prefixOf(root: Expression): string | undefined {
  if (root.type !== 'NewExpression' || !isElysia(root)) return undefined
  const [options] = root.arguments
  if (options?.type !== 'ObjectExpression') return ''
  for (const property of options.properties) {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') continue
    if (property.key.name === 'prefix') return literalOf(property.value)
  }
  return ''
}

const isElysia = ({ callee }: NewExpression): boolean =>
  callee.type === 'Identifier' && callee.name === 'Elysia'

const literalOf = (node: { readonly type: string; readonly value?: unknown }): string | undefined =>
  node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
