import { reasonOf } from './allowed-differences.ts'
import { CroftReader } from './croft-reader.ts'
import { type Difference, differencesFrom, type Expectation } from './expectation.ts'
import { readWithPython } from './python-reader.ts'
import { referenceDifferences } from './reference-differences.ts'

export interface MailFile {
  readonly name: string
  readonly path: string
  readonly raw: () => Promise<Buffer>
  readonly expectation: () => Promise<Expectation>
}

export interface ComparedFile {
  readonly name: string
  /** What is shown otherwise than expected, or than the reference without a reason. */
  readonly faults: readonly Difference[]
  readonly allowed: readonly (Difference & { readonly reason: string })[]
}

/** Compares one file after the other. */
export async function* compareFiles(
  files: readonly MailFile[],
  { hasReference }: { readonly hasReference: boolean },
): AsyncGenerator<ComparedFile> {
  await using croft = new CroftReader()
  const references = hasReference ? readWithPython(files.map(({ path }) => path)) : undefined
  for (const file of files) {
    const raw = await file.raw()
    const expected = await file.expectation()
    const shown = await croft.read(raw)
    const faults = differencesFrom(expected, shown)
    const reference = (await references?.next())?.value
    const others = reference
      ? referenceDifferences(reference, shown).filter(({ field }) => !isExpected(field, expected))
      : []
    const judged = others.map((difference) => ({
      ...difference,
      reason: reference && reasonOf(difference, reference, raw),
    }))
    yield {
      name: file.name,
      faults: [...faults, ...judged.filter(({ reason }) => reason === undefined)],
      allowed: judged.flatMap(({ reason, ...rest }) =>
        reason === undefined ? [] : [{ ...rest, reason }],
      ),
    }
  }
}

/** What an expectation names, for each field that is compared with the reference. */
const NAMED: Readonly<Record<string, readonly (keyof Expectation)[]>> = {
  subject: ['subject'],
  from: ['from'],
  'name of from': ['from'],
  to: ['to'],
  cc: ['cc'],
  html: ['html'],
  text: ['text', 'contains'],
  empty: ['text', 'contains'],
  attachments: ['attachments'],
  'attachment contentType': ['attachments'],
  'attachment bytes': ['attachments'],
}

/** Whether the file itself says what that field has to be: it knows better than the reference. */
const isExpected = (field: string, expected: Expectation): boolean =>
  NAMED[field]?.some((name) => expected[name] !== undefined) === true
