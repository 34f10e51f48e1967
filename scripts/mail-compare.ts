import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import { readings } from '#corpus/readings/readings.ts'

import { type ComparedFile, compareFiles, type MailFile } from './mail-compare/compare-files.ts'
import { type Difference, type Expectation, expectationOf } from './mail-compare/expectation.ts'
import { pythonMissing } from './mail-compare/python-reader.ts'

const USAGE = `npm run mail:compare -- FOLDER [--make] [--seed N] [--without-reference] [--all]

Compares what Croft shows of each .eml file in FOLDER, and in the folders below it, with what the file NAME.json beside it
expects, and, in fields that it does not name, with what Python's email package reads. Prints the differences, and exits
with 1 if one is not in docs/reference/mail-reader-differences.md.

  --make                Write the files of test/corpus/readings into FOLDER first, with what they expect
  --seed N              What is random in them; 1 unless set
  --without-reference   Compare with the expected values alone
  --all                 Print allowed differences, too

Needs python3 of 3.9 or later, or PYTHON_PATH to say where it is, unless --without-reference is given. Runs no service, and
sends nothing anywhere.`

const MISUSED = 2
const MAIL = '.eml'
const MAX_SHOWN = 160

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      make: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      'without-reference': { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const [folder] = positionals
  const seed = Number(values.seed)
  const hasReference = !values['without-reference']
  const wrong =
    folder === undefined || positionals.length > 1
      ? 'Name one folder'
      : Number.isSafeInteger(seed)
        ? hasReference && pythonMissing()
        : `"${values.seed}" is no whole number: --seed takes one`
  if (folder === undefined || typeof wrong === 'string') {
    console.error(`${String(wrong)}\n\n${USAGE}`)
    process.exitCode = MISUSED
    return
  }
  if (values.make) await make(folder, seed)
  const files = await filesIn(folder)
  if (files.length === 0) {
    console.error(`"${folder}" has no .eml files: name another folder, or add --make`)
    process.exitCode = MISUSED
    return
  }
  await report(compareFiles(files, { hasReference }), values.all)
}

async function make(folder: string, seed: number): Promise<void> {
  for (const { kind, name, raw, expected } of readings(seed)) {
    await mkdir(join(folder, kind), { recursive: true })
    await writeFile(join(folder, kind, `${name}.eml`), raw)
    const expectation = JSON.stringify(expectationOf(expected), null, 2)
    await writeFile(join(folder, kind, `${name}.json`), `${expectation}\n`)
  }
}

async function filesIn(folder: string): Promise<MailFile[]> {
  const entries = await readdir(folder, { recursive: true })
  const names = entries.filter((name) => name.endsWith(MAIL)).toSorted()
  return names.map((name) => {
    const path = resolve(folder, name)
    return {
      name,
      path,
      raw: () => readFile(path),
      expectation: () => expectationAt(`${path.slice(0, -MAIL.length)}.json`),
    }
  })
}

/** None where there is no such file. One that is not JSON is an error that names it. */
async function expectationAt(path: string): Promise<Expectation> {
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new Error(`"${path}" is not JSON: ${String(error)}`, { cause: error })
  }
}

interface Count {
  files: number
  faulty: number
  allowed: number
}

async function report(compared: AsyncIterable<ComparedFile>, showsAllowed: boolean): Promise<void> {
  const kinds = new Map<string, Count>()
  for await (const { name, faults, allowed } of compared) {
    const kind = dirname(name)
    const count = kinds.get(kind) ?? { files: 0, faulty: 0, allowed: 0 }
    kinds.set(kind, count)
    count.files += 1
    if (faults.length > 0) count.faulty += 1
    else if (allowed.length > 0) count.allowed += 1
    for (const fault of faults) console.log(`${name}: ${lineOf(fault)}`)
    if (!showsAllowed) continue
    for (const difference of allowed) {
      console.log(`${name}: allowed (${difference.reason}): ${lineOf(difference)}`)
    }
  }
  const rows = [...kinds].map(([kind, count]) => [kind, ...cellsOf(count)])
  const counts = [...kinds.values()]
  const total = counts.reduce((one, other) => ({
    files: one.files + other.files,
    faulty: one.faulty + other.faulty,
    allowed: one.allowed + other.allowed,
  }))
  console.log(
    columns([['kind', 'files', 'differ', 'as allowed'], ...rows, ['all', ...cellsOf(total)]]),
  )
  if (total.faulty > 0) process.exitCode = 1
}

const cellsOf = ({ files, faulty, allowed }: Count): string[] => [
  String(files),
  String(faulty),
  String(allowed),
]

const lineOf = ({ field, expected, shown }: Difference): string =>
  `${field}: expected ${short(expected)}, shown ${short(shown)}`

const short = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`

await main()
