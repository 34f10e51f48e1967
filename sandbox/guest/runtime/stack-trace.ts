import {
  create,
  defineProperty,
  ErrorClass,
  errorText,
  freeze,
  getPrototypeOf,
  hasOwn,
  indexOf,
  slice,
  startsWith,
  uncurry,
} from '#sandbox/guest/web/primordials.ts'

/** What our own scripts are called: the prelude, its parts, and the module that leads to a function's entry. */
const OURS = 'croft:'
const FORMAT = 'prepareStackTrace'

/** Gives the place in the source of a place in a file: `line:column`. Both from 1. */
export type LocateCode = (path: string, line: number, column: number) => string

let locate: LocateCode | undefined
/** Files whose code is not at its own places. */
let moved: object = freeze({})

export function setMovedFiles(paths: object, locator: LocateCode): void {
  moved = paths
  locate = locator
}

type Read<Value> = (site: object) => Value

/** Methods of the objects with which V8 describes a stack, as they were before site code ran. */
interface SiteMethods {
  readonly file: Read<unknown>
  readonly line: Read<number>
  readonly column: Read<number>
  readonly text: Read<string>
}

let methods: SiteMethods | undefined

/**
 * Has stacks written as V8 does, without our own frames, and with the places at which the code was written. Once in each
 * context, before site code: V8 describes no stacks while it makes a snapshot.
 */
export function formatStacks(): void {
  const property = create(null) as PropertyDescriptor
  property.writable = property.configurable = true
  property.value = keepMethods
  defineProperty(ErrorClass, FORMAT, property)
  void new ErrorClass().stack
  property.value = formatTrace
  defineProperty(ErrorClass, FORMAT, property)
}

// oxlint-disable typescript/unbound-method -- methods are taken off their prototype
function keepMethods(_error: unknown, sites: readonly object[]): void {
  const site = getPrototypeOf(sites[0] as object) as NodeJS.CallSite
  methods = {
    file: uncurry(site.getFileName),
    line: uncurry(site.getLineNumber) as Read<number>,
    column: uncurry(site.getColumnNumber) as Read<number>,
    text: uncurry(site.toString),
  }
}
// oxlint-enable typescript/unbound-method

const formatTrace = freeze((error: unknown, sites: readonly object[]): string => {
  if (!methods) return ''
  let frames = ''
  let isOurs = false
  for (let at = sites.length - 1; at >= 0; at -= 1) {
    const site = sites[at] as object
    const file = methods.file(site)
    // A frame of built-in code has no file: it belongs to its caller.
    if (typeof file === 'string') isOurs = startsWith(file, OURS)
    if (!isOurs) frames = `\n    at ${frameText(site, file, methods)}${frames}`
  }
  return head(error) + frames
})

function frameText(
  site: object,
  file: unknown,
  { line, column, text: describe }: SiteMethods,
): string {
  const text = describe(site)
  if (typeof file !== 'string' || !locate || !hasOwn(moved, file)) return text
  const place = `${file}:${line(site)}:${column(site)}`
  const at = indexOf(text, place)
  if (at < 0) return text
  return `${slice(text, 0, at)}${file}:${locate(file, line(site), column(site))}${slice(text, at + place.length)}`
}

/** As V8 has it where reading the error throws. */
function head(error: unknown): string {
  try {
    return errorText(error)
  } catch {
    return '<error>'
  }
}
