import { jsonSyntaxFault } from '#base/json-places.ts'
import { isStorable } from '#base/storable-text.ts'
import { placeAt } from '#base/text-place.ts'
import type {
  CodeFault,
  FunctionSource,
  Module,
  PreparedFunction,
} from '#platform/sandbox-host/sandbox.ts'

/** What inline code is called inside the sandbox; TypeScript, and JSX where a comment says what that means. */
const INLINE_ENTRY = 'index.ts'
const INLINE_JSX_ENTRY = 'index.tsx'
const JSX_COMMENT = /@jsx(?:Runtime|ImportSource|Frag)?[ \t]/

/** Where a function's code is: exactly one of the two. */
export interface FunctionCode {
  readonly code?: string
  /** A path in the deployment. */
  readonly artifact?: string
}

const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

export type Prepare = (source: FunctionSource) => Promise<PreparedFunction>

/** The code of a function; `files` are those of the deployment. */
export const functionSourceOf = (
  { code, artifact }: FunctionCode,
  files: ReadonlyMap<string, string>,
): FunctionSource => {
  if (code === undefined) return { entry: artifact ?? '', files }
  const entry = JSX_COMMENT.test(code) ? INLINE_JSX_ENTRY : INLINE_ENTRY
  return { entry, files: new Map([[entry, code]]) }
}

/** The modules of a function, ready to be stored and run, or why there are none. */
export async function readFunctionCode(
  source: FunctionSource,
  prepare: Prepare,
): Promise<PreparedFunction> {
  const { entry, files } = source
  if (!files.has(entry)) {
    return { ok: false, fault: { message: `"${entry}" is not a code file of the deployment` } }
  }
  const prepared = await prepare(source)
  if (!prepared.ok) return { ok: false, fault: placedInJson(prepared.fault, files) }
  const unkept = prepared.modules.find(({ path, code }) => !isStorable(path) || !isStorable(code))
  return unkept ? { ok: false, fault: unstorable(unkept, files) } : prepared
}

/** `line 3: Unexpected token`, or `lib/a.ts, line 3: …` when the fault is in another file than the one meant. */
export function codeFaultMessage(fault: CodeFault, entry: string): string {
  const place = [
    fault.path === undefined || fault.path === entry ? undefined : fault.path,
    fault.line === undefined ? undefined : `line ${fault.line}`,
  ].filter((part) => part !== undefined)
  return place.length === 0 ? fault.message : `${place.join(', ')}: ${fault.message}`
}

function unstorable({ path, code }: Module, files: ReadonlyMap<string, string>): CodeFault {
  const text = files.get(path) ?? code
  const offset = text.search(UNSTORABLE)
  const message = `"${path}" holds a NUL character or half a surrogate pair`
  return { message, path, ...(offset < 0 ? {} : placeAt(text, offset)) }
}

/** What the sandbox says of a JSON module depends on the parser, which may name no place. */
function placedInJson(fault: CodeFault, files: ReadonlyMap<string, string>): CodeFault {
  const { path } = fault
  const text = path?.endsWith('.json') === true ? files.get(path) : undefined
  const found = text === undefined ? undefined : jsonSyntaxFault(text)
  if (path === undefined || !found) return fault
  const { message, line, column } = found
  return { message: `"${path}" is not JSON: ${message}`, path, line, column }
}
