import { AppError, type FieldFault } from '#base/app-error.ts'

import { codeFaultMessage } from './function-code.ts'

/** Faults that one error tells. */
export const MAX_FAULTS = 20
/** Of them in the message; the fields have all. */
const SHOWN = 5

/** Something in a site's code or definition that keeps it from running, as answers carry it. */
export interface SourceFaultReport {
  /** The function's name; null where it is none's. */
  readonly function: string | null
  /** Null for code that is in no file. */
  readonly file: string | null
  /** From 1. */
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  /** The lines around it, with a caret. */
  readonly frame: string | null
}

/** A function that does not load. */
export interface FunctionFault {
  readonly name: string
  /** The field that has its code, in a request or definition; undefined where it is the site's already. */
  readonly field: string | undefined
  /** Its entry, which messages about it need not name; undefined for inline code. */
  readonly file: string | undefined
  readonly report: SourceFaultReport
}

/** One error for all of them. Null when there are none. */
export function codeError(faults: readonly FunctionFault[]): AppError | null {
  const [first] = faults
  if (!first) return null
  const [only, ...others] = faults.slice(0, MAX_FAULTS)
  const message =
    only !== undefined && others.length === 0
      ? sentenceOf(only)
      : `${faults.length} functions do not load: ${faults.slice(0, SHOWN).map(shortOf).join('; ')}`
  const more = faults.length > SHOWN ? `; and ${faults.length - SHOWN} more` : ''
  return new AppError('InvalidCode', message + more, {
    details: faults.slice(0, MAX_FAULTS).map(detailOf),
    fields: { faults: faults.slice(0, MAX_FAULTS).map(({ report }) => report) },
  })
}

const sentenceOf = (fault: FunctionFault): string =>
  fault.field === undefined || fault.file !== undefined
    ? `Function "${fault.name}" does not load: ${placedMessage(fault)}`
    : `${fault.field}: ${placedMessage(fault)}`

const shortOf = (fault: FunctionFault): string => `"${fault.name}": ${placedMessage(fault)}`

const detailOf = (fault: FunctionFault): FieldFault => ({
  field: fault.field ?? fault.name,
  message: placedMessage(fault),
})

function placedMessage({ file, report }: FunctionFault): string {
  const { file: path, line, message } = report
  const place = { message, ...(path === null ? {} : { path }), ...(line === null ? {} : { line }) }
  return codeFaultMessage(place, file === undefined ? (path ?? '') : '')
}
