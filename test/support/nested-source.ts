/** Deep enough to break a parser that recurses, in a few KB. */
const NESTED = 3000

const nested = (open: string, inner: string, close: string): string =>
  open.repeat(NESTED) + inner + close.repeat(NESTED)

/** Modules that break a parser by how deep they are nested, by what is. */
export const NESTED_SOURCES: Readonly<Record<string, string>> = {
  brackets: `export default () => ${nested('[', '', ']')}`,
  parentheses: `export default () => ${nested('(', '1', ')')}`,
  generics: `let x: ${nested('A<', 'B', '>')}\nexport default () => 1`,
  arrows: `export default ${nested('() => ', '1', '')}`,
  templates: `export default ${nested('`${', '1', '}`')}`,
  conditions: `export default ${nested('1 ? ', '1', ' : 1')}`,
  namespaces: `${nested('namespace A { ', 'export const a = 1', ' }')}\nexport default () => 1`,
}
