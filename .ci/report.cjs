// Judges a run by the JSON reports of vitest in a folder, and prints its last line:
//   node .ci/report.cjs FOLDER BROKEN_STEPS STATUS
// A file that failed and then passed alone is unsteady: it is added to `.ci/unsteady`, and has no second look from then on.
const { existsSync, readFileSync } = require('node:fs')
const { join, relative } = require('node:path')

const { add, lineFor, listed, pathOf } = require('./unsteady.cjs')

const [folder, brokenSteps, status] = process.argv.slice(2)
const today = new Date().toISOString().slice(0, 10)

const say = (line) => process.stdout.write(`${line}\n`)

const filesOf = (name) => {
  const path = join(folder, `${name}.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : []
}

const testsOf = (file, outcome) =>
  file.assertionResults.filter((test) => test.status === outcome).map(({ fullName }) => fullName)

const known = new Set(listed().map(pathOf))
const again = new Map(filesOf('again').map((file) => [file.name, file]))
const first = [...filesOf('check'), ...filesOf('test')]
let [passed, failed] = [0, 0]
for (const file of first.map((file) => again.get(file.name) ?? file)) {
  passed += testsOf(file, 'passed').length
  // A file that does not load has no tests.
  failed += testsOf(file, 'failed').length || Number(file.status === 'failed')
}

const unsteady = first.filter((file) => again.get(file.name)?.status === 'passed')
for (const file of unsteady) {
  const line = lineFor(relative('.', file.name), today, testsOf(file, 'failed'))
  say(`UNSTEADY: failed, then passed alone. Mend it, or commit this line of .ci/unsteady:`)
  say(line)
  add(line)
}
for (const { name, status: outcome } of first) {
  const path = relative('.', name)
  if (!known.has(path)) continue
  if (outcome === 'passed') say(`STEADY THIS TIME: ${path}`)
  else say(`UNSTEADY AGAIN: ${path} is listed in .ci/unsteady: mend it`)
}

// A step that broke without a failed test (types, format) is a failure too.
if (failed === 0) failed = Number(brokenSteps) || (status === '0' ? 0 : 1)
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
