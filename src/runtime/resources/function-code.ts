import { AppError } from '#base/app-error.ts'
import type { CodeFault, FunctionSource, Sandbox } from '#platform/sandbox-host/sandbox.ts'

import type { TypedConfig } from './model.ts'

/** What inline code is called inside the sandbox; TypeScript, so that types are taken off. */
const INLINE_ENTRY = 'index.ts'

/** Refuses inline code that would not load, before anything of it is stored. Runs none of it; asks the sandbox. */
export async function checkInlineCode(
  sandbox: Pick<Sandbox, 'prepare'>,
  siteId: string,
  typed: TypedConfig,
): Promise<void> {
  const code = inlineCodeOf(typed)
  if (code === undefined) return
  const field = 'config.code'
  const prepared = await sandbox.prepare(siteId, inlineSource(code))
  if (prepared.ok) return
  const message = codeFaultMessage(prepared.fault, INLINE_ENTRY)
  throw new AppError('InvalidCode', `${field}: ${message}`, { details: [{ field, message }] })
}

export const inlineCodeOf = (typed: TypedConfig): string | undefined =>
  typed.type === 'lambdaFunction' ? typed.config.code : undefined

export const inlineSource = (code: string): FunctionSource => ({
  entry: INLINE_ENTRY,
  files: new Map([[INLINE_ENTRY, code]]),
})

/** `line 3: Unexpected token`, or `lib/a.ts, line 3: …` when the fault is in another file than the one meant. */
export function codeFaultMessage(fault: CodeFault, entry: string): string {
  const place = [
    fault.path === undefined || fault.path === entry ? undefined : fault.path,
    fault.line === undefined ? undefined : `line ${fault.line}`,
  ].filter((part) => part !== undefined)
  return place.length === 0 ? fault.message : `${place.join(', ')}: ${fault.message}`
}
