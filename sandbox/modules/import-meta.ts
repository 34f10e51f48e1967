import { metaOffsets } from './module-syntax.ts'

/** As long as `import.meta`, so that everything stays at its place. */
const NAME = '__croftMeta'
/** What modules that ask for it import: the host makes a module of it for each. */
export const META_SPECIFIER = 'croft:meta'

/**
 * The same code with a variable in the place of `import.meta`: an isolate can be given no `import.meta` from outside. The
 * line that declares it comes last.
 */
export function withImportMeta(code: string): string {
  if (!code.includes('import')) return code
  const places = metaOffsets(code)
  if (places.length === 0) return code
  let text = ''
  let from = 0
  for (const { start, end } of places) {
    text += code.slice(from, start) + NAME.padEnd(end - start)
    from = end
  }
  return `${text}${code.slice(from)}\nimport ${NAME} from '${META_SPECIFIER}'\n`
}
