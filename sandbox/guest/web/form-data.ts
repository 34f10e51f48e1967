import { blobOf, blobBytes, File, isBlob, isFile } from './blob.ts'
import type { Blob } from './blob.ts'
import { defineInterface, takeInternals } from './interface.ts'
import { defineIterable, valuesOf, without, withReplaced } from './pairs.ts'
import type { Pair } from './pairs.ts'
import { push } from './primordials.ts'
import { isWebIdlObject, requireArguments, usvString } from './webidl.ts'

export type FormDataValue = string | File
type Entry = Pair<FormDataValue>

/** https://xhr.spec.whatwg.org/#interface-formdata, without forms. */
export class FormData {
  #entries: Entry[] = []

  constructor(form?: undefined) {
    if (form !== undefined)
      throw new TypeError("Failed to construct 'FormData': there are no forms here.")
  }

  append(name: string, value: unknown, filename?: string): void {
    requireArguments(arguments.length, 2, "Failed to execute 'append' on 'FormData'")
    push(this.#entries, entry(name, value, arguments.length > 2 ? filename : NONE))
  }

  delete(name: string): void {
    requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'FormData'")
    this.#entries = without(this.#entries, usvString(name))
  }

  get(name: string): FormDataValue | null {
    requireArguments(arguments.length, 1, "Failed to execute 'get' on 'FormData'")
    return valuesOf(this.#entries, usvString(name))[0] ?? null
  }

  getAll(name: string): FormDataValue[] {
    requireArguments(arguments.length, 1, "Failed to execute 'getAll' on 'FormData'")
    return valuesOf(this.#entries, usvString(name))
  }

  has(name: string): boolean {
    requireArguments(arguments.length, 1, "Failed to execute 'has' on 'FormData'")
    return valuesOf(this.#entries, usvString(name)).length > 0
  }

  set(name: string, value: unknown, filename?: string): void {
    requireArguments(arguments.length, 2, "Failed to execute 'set' on 'FormData'")
    const made = entry(name, value, arguments.length > 2 ? filename : NONE)
    this.#entries = withReplaced(this.#entries, made)
  }

  static readonly entriesOf = (form: FormData): readonly Entry[] => {
    return form.#entries
  }

  static readonly isFormData = (value: unknown): value is FormData => {
    return isWebIdlObject(value) && #entries in value
  }
}

export const { entriesOf: formEntries, isFormData } = takeInternals(FormData)
defineIterable('FormData', FormData, formEntries)
defineInterface('FormData', FormData)

const NONE = Symbol('no filename')

function entry(name: unknown, value: unknown, filename: unknown): Entry {
  const key = usvString(name)
  if (isBlob(value)) return [key, fileOf(value, filename)]
  if (filename !== NONE) throw new TypeError("parameter 2 is not of type 'Blob'.")
  return [key, usvString(value)]
}

function fileOf(blob: Blob, filename: unknown): File {
  if (isFile(blob) && filename === NONE) return blob
  const name = filename === NONE ? 'blob' : usvString(filename)
  const lastModified = isFile(blob) ? blob.lastModified : undefined
  return new File([blobOf(blobBytes(blob), '')], name, { type: blob.type, lastModified })
}
