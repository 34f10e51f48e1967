/** What one function may reach by its imports. */
export const MODULE_LIMITS = {
  modules: 1000,
  /** `import`, `export … from` and `require` with a literal, of all of them. */
  imports: 20_000,
  /** Imports from the entry to a module, by the shortest way. */
  depth: 200,
} as const

const ADVICE = 'bundle the function into fewer modules ("croft site bundle" does it)'

/** What is wrong with a function that reaches so much; undefined when nothing is. */
export function reachError(
  entry: string,
  reached: { readonly [Name in keyof typeof MODULE_LIMITS]: number },
): string | undefined {
  const { modules, imports, depth } = MODULE_LIMITS
  const past = (what: string, limit: number): string =>
    `"${entry}" reaches more than ${limit} ${what} (${reached.imports} imports in ${reached.modules} modules so far): ${ADVICE}`
  if (reached.modules > modules) return past('modules', modules)
  if (reached.imports > imports) return past('imports', imports)
  if (reached.depth > depth) return past('modules in a row that import one another', depth)
  return undefined
}
