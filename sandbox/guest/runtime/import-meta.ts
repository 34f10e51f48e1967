import { ARTIFACT_ROOT, joinPath, urlOfFile } from '#sandbox/guest/web/paths.ts'
import {
  create,
  defineProperty,
  slice,
  startsWith,
  testPattern,
  toText,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'

const RELATIVE = /^\.{0,2}\//
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i

/** `import.meta` of the module at that path of the artifact, as Deno makes it. */
export function importMetaOf(path: string, isMain: boolean): object {
  const meta = create(null) as object
  const filename = `${ARTIFACT_ROOT}/${path}`
  const dirname = folderOf(filename)
  put(meta, 'url', urlOfFile(path))
  put(meta, 'main', isMain)
  put(meta, 'resolve', (specifier: unknown): string => {
    const text = toText(specifier)
    if (testPattern(ABSOLUTE, text)) return text
    if (!testPattern(RELATIVE, text)) throw new TypeErrorClass(`Import "${text}" not a dependency`)
    const target = joinPath(dirname, text)
    return startsWith(target, `${ARTIFACT_ROOT}/`)
      ? urlOfFile(slice(target, ARTIFACT_ROOT.length + 1))
      : `file://${target}`
  })
  put(meta, 'filename', filename)
  put(meta, 'dirname', dirname)
  return meta
}

const folderOf = (path: string): string => {
  let end = path.length - 1
  while (end > 0 && path[end] !== '/') end -= 1
  return slice(path, 0, end)
}

const put = (meta: object, name: string, value: unknown): void => {
  defineProperty(meta, name, { value, writable: true, enumerable: true, configurable: true })
}
